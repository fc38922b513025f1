#include "train/checkpoint/checkpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parse_number.h"
#include "store/file.h"
#include "train/checkpoint/checksums.h"

namespace burn::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEpochPrefix = "epoch-";
constexpr std::int64_t kMaxEpochs = std::int64_t{1} << 53;  // and batches, and items: what JSON's numbers hold exactly

// 0: the name is not that of an epoch's folder.
std::int64_t epoch_of(const fs::path& folder) {
  const auto name = folder.filename().string();
  if (!name.starts_with(kEpochPrefix)) return 0;
  const auto epoch = parse_number<std::int64_t>(std::string_view{name}.substr(kEpochPrefix.size()));
  return epoch && *epoch >= 1 && *epoch <= kMaxEpochs ? *epoch : 0;
}

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
  static const std::vector<std::string> kFiles{"model.safetensors", "optimizer.safetensors", "metrics.safetensors",
                                               "scheduler.json", "state.json"};
  write_checksums(folder, kFiles);
}

void check_range(const fs::path& folder, const char* what, std::int64_t number, std::int64_t least) {
  if (number >= least && number <= kMaxEpochs) return;
  throw Error(StatusCode::data_loss, fmt::format("{}: {} is {}, which is not in {} to {}",
                                                 (folder / "state.json").string(), what, number, least, kMaxEpochs));
}

Checkpoint read_files(const fs::path& folder) {
  return {.state = TrainingState::load(folder / "state.json"),
          .model = Record::load(folder / "model.safetensors"),
          .optimizer = Record::load(folder / "optimizer.safetensors"),
          .metrics = Record::load(folder / "metrics.safetensors"),
          .scheduler = read_text(folder / "scheduler.json")};
}

// Errors: what is missing, damaged or says what cannot be, by the file's name.
Checkpoint read(const fs::path& folder) {
  check_checksums(folder);
  auto checkpoint = read_files(folder);
  const auto& state = checkpoint.state;
  check_range(folder, "the epoch", state.epoch, 1);
  check_range(folder, "the number of batches", state.batches, 0);
  check_range(folder, "the number of items", state.items, 0);
  return checkpoint;
}

// Removes a folder unless told that it has become the real one.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const fs::path& path) : path_(path) {}
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  ~UnfinishedFolder() {
    std::error_code ignored;  // what went wrong before is what the user is told
    if (!finished_) fs::remove_all(path_, ignored);
  }
  void finished() { finished_ = true; }

 private:
  const fs::path& path_;
  bool finished_ = false;
};

// Writes beside the folder, then puts the new one in its place.
void replace(const fs::path& folder, const Checkpoint& checkpoint) {
  const auto beside = [&](const char* what) {
    return folder.parent_path() / ("." + folder.filename().string() + what);
  };
  const auto written = beside(".new"), former = beside(".old");
  fs::remove_all(written);
  UnfinishedFolder unfinished{written};
  fs::create_directories(written);
  write(written, checkpoint);
  fs::remove_all(former);
  if (fs::exists(folder)) fs::rename(folder, former);
  std::error_code failed;
  fs::rename(written, folder, failed);
  if (failed) {
    if (fs::exists(former)) fs::rename(former, folder);
    throw fs::filesystem_error("rename", folder, failed);
  }
  unfinished.finished();
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
    if (const auto epoch = epoch_of(entry.path()); epoch > 0) found.push_back(epoch);
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

Checkpoint CheckpointStore::load(std::optional<std::int64_t> epoch,
                                 const std::function<void(const std::string&)>& warn) const {
  return with_folder(folder_, [&] {
    if (epoch) return read_epoch(*epoch);
    std::vector<fs::path> newest_first;
    if (fs::exists(interrupted())) newest_first.push_back(interrupted());  // an epoch that ends later removes it
    const auto found = epochs();
    for (auto at = found.rbegin(); at != found.rend(); ++at) newest_first.push_back(folder_of(*at));
    if (newest_first.empty()) throw Error(StatusCode::not_found, "no checkpoint in " + folder_.string());
    std::string why;
    for (const auto& folder : newest_first) {
      try {
        return folder == interrupted() ? read(folder) : read_epoch(epoch_of(folder));
      } catch (const Error& error) {
        if (error.code() == StatusCode::resource_exhausted) throw;  // no memory: the file may well be whole
        const auto sentence =
            "the checkpoint " + folder.filename().string() + " cannot be used: " + std::string{error.what()};
        if (warn) warn(sentence);
        why += (why.empty() ? "" : "; ") + sentence;
      }
    }
    throw Error(StatusCode::data_loss, "no checkpoint in " + folder_.string() + " is whole: " + why);
  });
}

Checkpoint CheckpointStore::read_epoch(std::int64_t epoch) const {
  const auto folder = find(epoch);
  auto checkpoint = read(folder);
  if (checkpoint.state.epoch == epoch && !checkpoint.state.interrupted) return checkpoint;
  throw Error(StatusCode::data_loss,
              fmt::format("{}: it is of epoch {}{}, in the folder of epoch {}", (folder / "state.json").string(),
                          checkpoint.state.epoch, checkpoint.state.interrupted ? ", interrupted" : "", epoch));
}

Record CheckpointStore::load_model(std::int64_t epoch) const {
  return with_folder(folder_, [&] { return Record::load(find(epoch) / "model.safetensors"); });
}

}  // namespace burn::train
