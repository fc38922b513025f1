#include "train/checkpoint/checksums.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "store/file.h"

namespace burn::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "checksums";

// Computes a file's checksum and size in pieces: it may be larger than memory.
struct Sum {
  std::string hash;
  std::uint64_t size = 0;
};

Sum sum_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(StatusCode::unavailable, "cannot read " + path.string());
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> piece(std::size_t{1} << 20);
  Sum sum;
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    XXH3_64bits_update(state.get(), piece.data(), count);
    sum.size += count;
  }
  if (file.bad()) throw Error(StatusCode::unavailable, "cannot read " + path.string());
  sum.hash = fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
  return sum;
}

[[noreturn]] void damaged(const fs::path& path, const std::string& what) {
  throw Error(StatusCode::data_loss, path.string() + " is damaged: " + what);
}

}  // namespace

void write_checksums(const fs::path& folder, std::span<const std::string> files) {
  std::string text;
  for (const auto& name : files) {
    const auto sum = sum_of(folder / name);
    text += fmt::format("{} {} {}\n", sum.hash, sum.size, name);
  }
  const std::span<const std::byte> part = std::as_bytes(std::span{text});
  store::write_file(folder / kFile, std::span{&part, 1});
}

void check_checksums(const fs::path& folder) {
  if (!fs::exists(folder / kFile)) return;
  const auto bytes = store::read_file(folder / kFile);
  std::istringstream text(std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  int count = 0;
  for (std::string line; std::getline(text, line); ++count) {
    std::istringstream words(line);
    std::string hash, name;
    std::uint64_t size = 0;
    if (!(words >> hash >> size >> name) || name.find('/') != std::string::npos)
      damaged(folder / kFile, "line " + std::to_string(count + 1) + " is no checksum");
    if (!fs::exists(folder / name)) damaged(folder / name, "it is gone");
    const auto found = sum_of(folder / name);
    if (found.size != size) damaged(folder / name, fmt::format("it has {} bytes, {} were written", found.size, size));
    if (found.hash != hash) damaged(folder / name, "its checksum is not that of what was written");
  }
  if (count == 0) damaged(folder / kFile, "it is empty");
}

}  // namespace burn::train
