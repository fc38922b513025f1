#include "train/events/event_file.h"

#include <cerrno>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "train/events/codec.h"

namespace burn::train::events {
namespace {

constexpr std::string_view kMagic = "BURNEVT1";
constexpr std::size_t kFrameBytes = 8, kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kKeptBeforeStart = 100;
constexpr std::int64_t kProgressIntervalUs = 1'000'000;

}  // namespace

// --- reading ---------------------------------------------------------------------------------------------------------

EventFileReader::EventFileReader(std::filesystem::path path) : path_(std::move(path)) {}

bool EventFileReader::open() {
  if (!file_) {
    file_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_ && errno == ENOENT) return false;
  }
  if (file_ && end_ + kFrameBytes <= size_) return true;  // more is known to be available
  struct stat facts {};
  if (!file_ || ::fstat(file_.get(), &facts) != 0) {
    throw Error(StatusCode::unavailable,
                "cannot read " + path_.string() + ": " + std::generic_category().message(errno));
  }
  size_ = static_cast<std::uint64_t>(facts.st_size);
  inode_ = facts.st_ino;
  return true;
}

std::string_view EventFileReader::fill(std::size_t wanted) {
  const auto begin = static_cast<std::size_t>(end_ - buffer_at_);
  if (begin > 0 && buffer_.size() - begin < wanted) {
    buffer_.erase(0, begin);
    buffer_at_ = end_;
  }
  while (buffer_.size() - (end_ - buffer_at_) < wanted) {
    const auto had = buffer_.size();
    buffer_.resize(had + std::max(wanted, kBufferBytes));
    const auto count =
        ::pread(file_.get(), buffer_.data() + had, buffer_.size() - had, static_cast<off_t>(buffer_at_ + had));
    buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) {
      throw Error(StatusCode::unavailable,
                  "cannot read " + path_.string() + ": " + std::generic_category().message(errno));
    }
  }
  const auto bytes = std::string_view{buffer_}.substr(static_cast<std::size_t>(end_ - buffer_at_));
  return bytes.substr(0, std::min(wanted, bytes.size()));
}

std::optional<Event> EventFileReader::next() {
  if (!open()) return std::nullopt;
  if (end_ == 0) {
    const auto magic = fill(kMagic.size());
    if (!kMagic.starts_with(magic)) throw Error(StatusCode::data_loss, path_.string() + " is no event file");
    if (magic.size() < kMagic.size()) return std::nullopt;
    end_ = kMagic.size();
  }
  while (true) {
    const auto frame = fill(kFrameBytes);
    if (frame.size() < kFrameBytes) return std::nullopt;
    const std::size_t length = get_u32(frame);
    if (length > kMaxRecordBytes) {
      forget_rest();
      return std::nullopt;
    }
    const auto record = fill(kFrameBytes + length);
    if (record.size() < kFrameBytes + length) {
      forget_rest();
      return std::nullopt;
    }
    const auto payload = record.substr(kFrameBytes);
    if (crc32c(record.substr(0, 4), payload) != get_u32(record.substr(4))) {
      forget_rest();
      return std::nullopt;
    }
    end_ += record.size();
    if (auto event = decode(payload)) return event;
  }
}

void EventFileReader::forget_rest() { buffer_.resize(static_cast<std::size_t>(end_ - buffer_at_)); }

bool EventFileReader::was_replaced() {
  if (!file_) return false;
  struct stat facts {};
  const bool is_there = ::stat(path_.c_str(), &facts) == 0;
  if (is_there && facts.st_ino == inode_ && static_cast<std::uint64_t>(facts.st_size) >= end_) return false;
  *this = EventFileReader{path_};
  return true;
}

std::optional<std::string> run_of(const std::filesystem::path& path) {
  EventFileReader reader{path};
  while (const auto event = reader.next()) {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the loop's condition
    if (const auto* start = std::get_if<Start>(&event->body)) return start->run;
  }
  return std::nullopt;
}

std::string run_to_resume(const std::filesystem::path& path, const std::string& run) {
  const auto found = run_of(path);
  if (!found) return run.empty() ? new_run_id() : run;
  if (run.empty() || *found == run) return *found;
  throw Error(StatusCode::failed_precondition,
              fmt::format("resume: {} is of the run {}, the checkpoint of the run {}; move the file away",
                          path.string(), *found, run));
}

std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// --- writing ---------------------------------------------------------------------------------------------------------

void EventFileSink::event(const Event& event) {
  if (const auto* start = std::get_if<Start>(&event.body)) open(*start);
  if (!file_) {
    if (before_start_.size() < kKeptBeforeStart) before_start_.push_back(event);
    return;
  }
  add(event);
  for (const auto& earlier : std::exchange(before_start_, {})) add(earlier);
}

void EventFileSink::open(const Start& start) {
  std::uint64_t size = 0;
  if (start.resumed) {
    EventFileReader reader{path_};
    while (const auto event = reader.next()) {
      const auto* before =
          std::get_if<Start>(&event->body);  // NOLINT(bugprone-unchecked-optional-access): the loop's condition
      if (before != nullptr && before->run != start.run) {
        throw Error(StatusCode::failed_precondition,
                    fmt::format("{} is of the run {}, not of {}", path_.string(), before->run, start.run));
      }
    }
    size = reader.end();
  }
  file_.reset();
  AppendFile file{path_};
  if (!file.lock()) throw Error(StatusCode::failed_precondition, path_.string() + " is written by another process");
  if (size == 0) {  // another file, so that readers of the old one notice
    std::filesystem::remove(path_);
    file = AppendFile{path_};
    if (!file.lock()) throw Error(StatusCode::failed_precondition, path_.string() + " is written by another process");
  }
  file.cut(size);
  file_ = std::move(file);
  if (size == 0) pending_ = kMagic;
}

void EventFileSink::add(const Event& event) {
  if (const auto* progress = std::get_if<Progress>(&event.body)) {
    const bool is_last = progress->items >= progress->total_items;
    if (!is_last && event.time_us - progress_us_ < kProgressIntervalUs) return;
    progress_us_ = event.time_us;
  }
  const auto payload = encode(event);
  std::string length;
  put_u32(length, static_cast<std::uint32_t>(payload.size()));
  pending_ += length;
  put_u32(pending_, crc32c(length, payload));
  pending_ += payload;
}

void EventFileSink::flush() {
  if (!file_ || pending_.empty()) return;
  file_->write(pending_);
  pending_.clear();
}

}  // namespace burn::train::events
