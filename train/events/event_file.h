// <artifact_dir>/events: all events of a run, in one append-only file. Dashboards read it while it is being written.
//
//   "BURNEVT1", then records: length of the payload (u32), CRC-32C of length and payload (u32), payload (codec.h)
//
// A process that ends during a write leaves a truncated record; readers treat it as the end, and a resumed run
// overwrites it. A resumed run appends a Start, which says which of the earlier points are still valid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/events/append_file.h"
#include "train/events/event_sink.h"

namespace burn::train::events {

// Reads a file from its beginning, with a buffer of about 64 KiB regardless of its size. Used by one thread.
class EventFileReader {
 public:
  // Longer records are treated as damage: events are much smaller.
  static constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;

  // The file need not exist yet. Errors of all functions (thrown): DATA_LOSS for a file that is not an event file;
  // UNAVAILABLE for a file that cannot be read.
  explicit EventFileReader(std::filesystem::path path);

  // The next complete event; std::nullopt at the end, where a later call may find more.
  std::optional<Event> next();
  // Whether bytes follow the last complete record: an unfinished or damaged record.
  bool has_rest() const { return size_ > end_; }
  std::uint64_t end() const { return end_; }  // offset of the end of the last complete record, in bytes
  // Whether the file was replaced, as a new run does; next() then starts at the beginning of the new file.
  bool was_replaced();

 private:
  bool open();
  std::string_view fill(std::size_t wanted);  // the available bytes after end_, at most `wanted`

  void forget_rest();  // drops the buffer after end_, as the file may be overwritten there

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t inode_ = 0;
  std::uint64_t end_ = 0, size_ = 0;
  std::string buffer_;  // content of the file from offset buffer_at_
  std::uint64_t buffer_at_ = 0;
};

// The identifier of an event file's run; std::nullopt without a file or an event in it. Errors: as EventFileReader.
std::optional<std::string> run_of(const std::filesystem::path& path);
// The identifier for a run that is resumed from a checkpoint of `run` and appends to this file. An empty `run`: the
// checkpoint has no identifier. Errors: as EventFileReader; FAILED_PRECONDITION for a file of another run.
std::string run_to_resume(const std::filesystem::path& path, const std::string& run);
std::string new_run_id();  // 32 random hexadecimal digits

// Writes the file. The first Start opens it: a new run replaces the file, a resumed one appends after its last complete
// record. Errors (thrown by event() and flush()): UNAVAILABLE naming the file, FAILED_PRECONDITION for a file that
// another process is writing, or of another run.
class EventFileSink final : public EventSink {
 public:
  explicit EventFileSink(std::filesystem::path path) : path_(std::move(path)) {}

  void event(const Event& event) override;
  void flush() override;
  std::string name() const override { return "the event file " + path_.string(); }

 private:
  void open(const Start& start);
  void add(const Event& event);

  std::filesystem::path path_;
  std::optional<AppendFile> file_;
  std::vector<Event> before_start_;
  std::string pending_;           // bytes that are not written yet
  std::int64_t progress_us_ = 0;  // time of the last written Progress
};

}  // namespace burn::train::events
