#include "train/checkpoint/checkpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parse_number.h"
#include "store/file.h"

namespace burn::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEpochPrefix = "epoch-";

// What the file system refuses, as one sentence.
template <typename Body>
auto with_folder(const fs::path& folder, Body body) {
  try {
    return body();
  } catch (const fs::filesystem_error& error) {
    throw Error(StatusCode::unavailable, "checkpoint " + folder.string() + ": " + error.code().message());
  }
}

void write_text(const fs::path& path, const std::string& text) {
  const std::span<const std::byte> part = std::as_bytes(std::span{text});
  store::write_file(path, std::span{&part, 1});
}

std::string read_text(const fs::path& path) {
  const auto bytes = store::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write(const fs::path& folder, const Checkpoint& checkpoint) {
  checkpoint.model.save(folder / "model.safetensors");
  checkpoint.optimizer.save(folder / "optimizer.safetensors");
  checkpoint.metrics.save(folder / "metrics.safetensors");
  write_text(folder / "scheduler.json", checkpoint.scheduler);
  checkpoint.state.save(folder / "state.json");
}

Checkpoint read(const fs::path& folder) {
  return {.state = TrainingState::load(folder / "state.json"),
          .model = Record::load(folder / "model.safetensors"),
          .optimizer = Record::load(folder / "optimizer.safetensors"),
          .metrics = Record::load(folder / "metrics.safetensors"),
          .scheduler = read_text(folder / "scheduler.json")};
}

// Writes beside the folder, then puts the new one in its place.
void replace(const fs::path& folder, const Checkpoint& checkpoint) {
  const auto beside = [&](const char* what) {
    return folder.parent_path() / ("." + folder.filename().string() + what);
  };
  const auto written = beside(".new"), former = beside(".old");
  fs::remove_all(written);
  fs::create_directories(written);
  write(written, checkpoint);
  fs::remove_all(former);
  if (fs::exists(folder)) fs::rename(folder, former);
  fs::rename(written, folder);
  fs::remove_all(former);
}

}  // namespace

void CheckpointStore::clear() const {
  with_folder(folder_, [&] { fs::remove_all(folder_); });
}

void CheckpointStore::save(const Checkpoint& checkpoint) const {
  const auto& state = checkpoint.state;
  with_folder(folder_, [&] {
    if (state.interrupted) return replace(interrupted(), checkpoint);
    replace(folder_of(state.epoch), checkpoint);
    fs::remove_all(interrupted());  // it is in the past now
  });
}

void CheckpointStore::keep_only(std::span<const std::int64_t> kept) const {
  with_folder(folder_, [&] {
    for (const auto epoch : epochs()) {
      if (std::find(kept.begin(), kept.end(), epoch) == kept.end()) fs::remove_all(folder_of(epoch));
    }
  });
}

std::vector<std::int64_t> CheckpointStore::epochs() const {
  std::vector<std::int64_t> found;
  if (!fs::exists(folder_)) return found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(kEpochPrefix)) continue;
    const auto epoch = parse_number<std::int64_t>(std::string_view{name}.substr(kEpochPrefix.size()));
    if (epoch) found.push_back(*epoch);
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path CheckpointStore::find(std::int64_t epoch) const {
  const auto found = epochs();
  if (std::find(found.begin(), found.end(), epoch) != found.end()) return folder_of(epoch);
  throw Error(StatusCode::not_found,
              "no checkpoint of epoch " + std::to_string(epoch) + " in " + folder_.string() +
                  (found.empty() ? "" : fmt::format("; there are those of the epochs {}", fmt::join(found, ", "))));
}

Checkpoint CheckpointStore::load(std::optional<std::int64_t> epoch) const {
  return with_folder(folder_, [&] {
    if (epoch) return read(find(*epoch));
    if (fs::exists(interrupted())) return read(interrupted());  // an epoch that ends later removes it
    const auto found = epochs();
    if (found.empty()) throw Error(StatusCode::not_found, "no checkpoint in " + folder_.string());
    return read(folder_of(found.back()));
  });
}

Record CheckpointStore::load_model(std::int64_t epoch) const {
  return with_folder(folder_, [&] { return Record::load(find(epoch) / "model.safetensors"); });
}

}  // namespace burn::train
