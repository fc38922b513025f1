#include "train/checkpoint/checkpointer.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "store/file.h"
#include "train/checkpoint/checksums.h"

namespace burn::train {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxCounted = std::int64_t{1} << 53;  // largest whole number that JSON represents exactly

// Runs `body`, and converts errors of the file system to one sentence.
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

std::string file_of(const std::string& record) { return record + ".safetensors"; }

void write(const fs::path& folder, const Checkpoint& checkpoint) {
  std::vector<std::string> files{"scheduler.json", "state.json"};
  const auto save = [&](const std::string& name, const Record& record) {
    record.save(folder / file_of(name));
    files.push_back(file_of(name));
  };
  save("model", checkpoint.model);
  save("optimizer", checkpoint.optimizer);
  save("metrics", checkpoint.metrics);
  for (const auto& [name, record] : checkpoint.more) save(name, record);
  write_text(folder / "scheduler.json", checkpoint.scheduler);
  checkpoint.state.save(folder / "state.json");
  write_checksums(folder, files);
}

void check_range(const fs::path& folder, const char* what, std::int64_t number, std::int64_t least) {
  if (number >= least && number <= kMaxCounted) return;
  throw Error(StatusCode::data_loss, fmt::format("{}: {} is {}, which is not in {} to {}",
                                                 (folder / "state.json").string(), what, number, least, kMaxCounted));
}

// A file of a later version may have unknown fields, so the version is checked first.
TrainingState read_state(const fs::path& folder) {
  const auto path = folder / "state.json";
  const auto version = nn::detail::JsonReader::parse(read_text(path), path.string()).find("version");
  if (version && version->integer() > TrainingState::kVersion) {
    throw Error(StatusCode::failed_precondition,
                fmt::format("{}: it was written by a newer version of this library, in format {}; this one reads "
                            "formats up to {}",
                            path.string(), version->integer(), TrainingState::kVersion));
  }
  auto state = TrainingState::load(path);
  check_range(folder, "the epoch", state.epoch, 1);
  check_range(folder, "the number of batches", state.batches, 0);
  check_range(folder, "the number of items", state.items, 0);
  check_range(folder, "the number of steps", state.steps, 0);
  return state;
}

// Removes an unfinished folder when destroyed, unless it has become the final one.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const fs::path& path) : path_(path) {}
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  ~UnfinishedFolder() {
    std::error_code ignored;  // the user gets the earlier error
    if (!finished_) fs::remove_all(path_, ignored);
  }
  void finished() { finished_ = true; }

 private:
  const fs::path& path_;
  bool finished_ = false;
};

// Writes a new folder next to the old one, then replaces the old one.
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

void FileCheckpointer::save(const std::string& name, const Checkpoint& checkpoint) {
  with_folder(folder_, [&] { replace(folder_ / name, checkpoint); });
}

Checkpoint FileCheckpointer::load(const std::string& name) const {
  return with_folder(folder_, [&] {
    const auto folder = folder_ / name;
    check_checksums(folder);
    Checkpoint checkpoint;
    checkpoint.state = read_state(folder);
    checkpoint.model = Record::load(folder / file_of("model"));
    checkpoint.optimizer = Record::load(folder / file_of("optimizer"));
    checkpoint.metrics = Record::load(folder / file_of("metrics"));
    for (const auto& more : checkpoint.state.more) {
      if (more.find('/') != std::string::npos) {
        throw Error(StatusCode::data_loss, (folder / "state.json").string() + ": a record is called \"" + more + "\"");
      }
      checkpoint.more.emplace(more, Record::load(folder / file_of(more)));
    }
    checkpoint.scheduler = read_text(folder / "scheduler.json");
    return checkpoint;
  });
}

Record FileCheckpointer::load_record(const std::string& name, const std::string& record) const {
  return with_folder(folder_, [&] { return Record::load(folder_ / name / file_of(record)); });
}

void FileCheckpointer::remove(const std::string& name) {
  with_folder(folder_, [&] { fs::remove_all(folder_ / name); });
}

std::vector<std::string> FileCheckpointer::names() const {
  return with_folder(folder_, [&] {
    std::vector<std::string> names;
    if (!fs::exists(folder_)) return names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with('.')) names.push_back(name);  // else it is unfinished
    }
    std::sort(names.begin(), names.end());
    return names;
  });
}

}  // namespace burn::train
