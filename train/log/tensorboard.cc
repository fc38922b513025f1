#include <bit>

#include <fmt/format.h>
#include <unistd.h>

#include "train/events/codec.h"
#include "train/log/loggers.h"

namespace burn::train {
namespace tensorboard {
namespace {

// The protocol buffers' wire format: a field's number and kind, then its value.
constexpr int kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

void key(std::string& bytes, int field, int kind) {
  events::put_varint(bytes, static_cast<std::uint64_t>(field << 3 | kind));
}
void put(std::string& bytes, int field, std::string_view text) {
  key(bytes, field, kBytes);
  events::put_varint(bytes, text.size());
  bytes += text;
}

// Event: wall_time = 1, step = 2.
std::string begin(double seconds, std::int64_t step) {
  std::string bytes;
  key(bytes, 1, kFixed64);
  events::put_u64(bytes, std::bit_cast<std::uint64_t>(seconds));
  if (step == 0) return bytes;
  key(bytes, 2, kVarint);
  events::put_varint(bytes, static_cast<std::uint64_t>(step));
  return bytes;
}

// Masks a checksum, as checksums of data that contains checksums would be weak otherwise.
std::uint32_t masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8U; }

}  // namespace

std::string record(std::string_view payload) {
  std::string bytes;
  events::put_u64(bytes, payload.size());
  events::put_u32(bytes, masked(events::crc32c(bytes)));
  bytes += payload;
  events::put_u32(bytes, masked(events::crc32c(payload)));
  return bytes;
}

std::string version_event(double seconds) {
  auto event = begin(seconds, 0);
  put(event, 3, "brain.Event:2");  // file_version
  return record(event);
}

std::string restart_event(double seconds, std::int64_t step) {
  auto event = begin(seconds, step);
  std::string log;
  key(log, 1, kVarint);  // SessionLog: status = 1, START = 1
  events::put_varint(log, 1);
  put(event, 7, log);  // session_log
  return record(event);
}

std::string scalar_event(double seconds, std::int64_t step, std::string_view tag, float value) {
  std::string scalar;  // Summary.Value: tag = 1, simple_value = 2
  put(scalar, 1, tag);
  key(scalar, 2, kFixed32);
  events::put_u32(scalar, std::bit_cast<std::uint32_t>(value));
  std::string summary;
  put(summary, 1, scalar);  // Summary: value = 1
  auto event = begin(seconds, step);
  put(event, 5, summary);
  return record(event);
}

}  // namespace tensorboard

void TensorBoardLogger::event(const events::Event& event) {
  const double time = static_cast<double>(event.time_us) / 1e6;
  if (const auto* start = std::get_if<events::Start>(&event.body)) {
    metrics_ = start->metrics;
    char host[64] = {};
    ::gethostname(host, sizeof host - 1);
    file_.emplace(folder_ / fmt::format("events.out.tfevents.{}.{}.{}.{}", event.time_us / 1'000'000, host, ::getpid(),
                                        event.time_us % 1'000'000));
    pending_ += tensorboard::version_event(time);
    if (start->resumed) pending_ += tensorboard::restart_event(time, start->step + 1);
  } else if (const auto* point = std::get_if<events::MetricPoint>(&event.body)) {
    if (point->count > 0) scalar(event.time_us, point->metric, "", point->split, point->step, point->mean);
  } else if (const auto* end = std::get_if<events::SplitEnd>(&event.body)) {
    for (const auto& [metric, value] : end->values)
      scalar(event.time_us, metric, end->split == Split::train ? "_epoch" : "", end->split, end->step, value);
  } else if (const auto* epoch = std::get_if<events::EpochEnd>(&event.body)) {
    pending_ += tensorboard::scalar_event(time, epoch->step, "learning rate", static_cast<float>(epoch->rate));
  }
}

void TensorBoardLogger::scalar(std::int64_t time_us, std::int32_t metric, const char* suffix, Split split,
                               std::int64_t step, double value) {
  const auto index = static_cast<std::size_t>(metric);
  if (index >= metrics_.size()) return;
  const auto tag = fmt::format("{}/{}{}", metrics_[index].name, train::name(split), suffix);
  pending_ += tensorboard::scalar_event(static_cast<double>(time_us) / 1e6, step, tag, static_cast<float>(value));
}

void TensorBoardLogger::flush() {
  if (!file_ || pending_.empty()) return;
  file_->write(pending_);
  pending_.clear();
}

}  // namespace burn::train
