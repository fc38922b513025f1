#include "train/checkpoint/checksums.h"

#include <cstddef>
#include <cstdint>
#include <sstream>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "store/file.h"

namespace burn::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "checksums";

std::string hash_of(const SharedBytes& bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

[[noreturn]] void damaged(const fs::path& path, const std::string& what) {
  throw Error(StatusCode::data_loss, path.string() + " is damaged: " + what);
}

}  // namespace

void write_checksums(const fs::path& folder, std::span<const std::string> files) {
  std::string text;
  for (const auto& name : files) {
    const auto bytes = store::read_file(folder / name);
    text += fmt::format("{} {} {}\n", hash_of(bytes), bytes.size(), name);
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
    const auto found = store::read_file(folder / name);
    if (found.size() != size)
      damaged(folder / name, fmt::format("it has {} bytes, {} were written", found.size(), size));
    if (hash_of(found) != hash) damaged(folder / name, "its checksum is not that of what was written");
  }
  if (count == 0) damaged(folder / kFile, "it is empty");
}

}  // namespace burn::train
