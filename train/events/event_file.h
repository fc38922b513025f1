// <artifact_dir>/events: all events of a run, in one file that only grows. Dashboards read it while it is written.
//
//   "BURNEVT1", then records: length of the payload (u32), CRC-32C of length and payload (u32), payload (codec.h)
//
// A process that ends while it writes leaves a record that is cut off; readers take that for the end, and a resumed
// run writes over it. A run that is resumed adds a Start, which says which of the earlier points still count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/events/append_file.h"
#include "train/events/event_sink.h"

namespace burn::train::events {

// Reads a file from its beginning, in a buffer of some 64 KiB whatever its size. Used by one thread.
class EventFileReader {
 public:
  // Records that are longer are damage: no event comes near.
  static constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;

  // The file need not be there yet. Errors of all functions (thrown): DATA_LOSS for a file that is no event file;
  // UNAVAILABLE for one that cannot be read.
  explicit EventFileReader(std::filesystem::path path);

  // The next event that is whole; nothing at the end, where a later call may find more.
  std::optional<Event> next();
  // What is after the last whole record: bytes of a record that is not finished, or damage.
  bool has_rest() const { return size_ > end_; }
  std::uint64_t end() const { return end_; }  // of the last whole record, in bytes
  // The file was replaced by another one, as a run that begins afresh does: next() begins again.
  bool was_replaced();

 private:
  bool open();
  std::string_view fill(std::size_t wanted);  // as many bytes after end_ as there are, up to `wanted`

  void forget_rest();  // of the buffer: what is after end_ may be written over

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t inode_ = 0;
  std::uint64_t end_ = 0, size_ = 0;
  std::string buffer_;  // bytes of the file from buffer_at_ on
  std::uint64_t buffer_at_ = 0;
};

// The run that an event file is of; nothing if there is no file or no event in it. Errors: as EventFileReader.
std::optional<std::string> run_of(const std::filesystem::path& path);
// The run that goes on in a file, from a checkpoint of `run`; empty: the checkpoint does not say. Errors: as
// EventFileReader; FAILED_PRECONDITION for a file of another run.
std::string run_to_resume(const std::filesystem::path& path, const std::string& run);
std::string new_run_id();  // 32 random hexadecimal digits

// Writes the file. Opened by the first Start: one that is not resumed replaces the file, one that is goes on after its
// last whole record. Errors (thrown by event() and flush()): UNAVAILABLE naming the file, FAILED_PRECONDITION for a
// file that another process writes, or that is of another run.
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
  std::string pending_;           // bytes that are not written
  std::int64_t progress_us_ = 0;  // time of the last Progress that was written
};

}  // namespace burn::train::events
