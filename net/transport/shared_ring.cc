#include "net/transport/shared_ring.h"

#include <algorithm>
#include <cstring>

namespace burn::net {
namespace {

// Clears the flag and returns whether it was set. Reads before it writes: while no end sleeps, both caches keep the
// line.
bool take(std::atomic<std::uint32_t>& flag) { return flag.load() != 0 && flag.exchange(0) != 0; }

}  // namespace

std::size_t RingWriter::space() {
  const std::uint64_t read = control_.read.load();
  if (read < seen_read_ || read > published_) broken_ = true;
  if (broken_) return 0;
  seen_read_ = read;
  return bytes_.size() - (written_ - read);
}

void RingWriter::put(std::span<const std::byte> from) {
  if (from.empty()) return;
  const std::size_t at = written_ % bytes_.size();
  const std::size_t first = std::min(from.size(), bytes_.size() - at);
  std::memcpy(bytes_.data() + at, from.data(), first);
  if (first < from.size()) std::memcpy(bytes_.data(), from.data() + first, from.size() - first);
  written_ += from.size();
}

bool RingWriter::publish() {
  if (published_ == written_) return false;
  published_ = written_;
  control_.written.store(written_);
  return take(control_.reader_sleeps);
}

bool RingWriter::go_to_sleep() {
  if (has_room() || broken_) return false;
  control_.writer_sleeps.store(1);
  if (!has_room() && !broken_) return true;
  control_.writer_sleeps.store(0);
  return false;
}

bool RingWriter::close() {
  control_.closed.store(1);
  return take(control_.reader_sleeps);
}

std::size_t RingReader::available() {
  const std::uint64_t written = control_.written.load();
  if (written < seen_written_ || written - released_ > bytes_.size()) broken_ = true;
  if (broken_) return 0;
  seen_written_ = written;
  return written - read_;
}

bool RingReader::is_at_end() {
  return control_.closed.load() != 0 && available() == 0;  // in this order, as bytes are published before the end
}

void RingReader::get(std::span<std::byte> to) {
  if (to.empty()) return;
  const std::size_t at = read_ % bytes_.size();
  const std::size_t first = std::min(to.size(), bytes_.size() - at);
  std::memcpy(to.data(), bytes_.data() + at, first);
  if (first < to.size()) std::memcpy(to.data() + first, bytes_.data(), to.size() - first);
  read_ += to.size();
}

bool RingReader::release() {
  if (released_ == read_) return false;
  released_ = read_;
  control_.read.store(read_);
  const bool is_room = seen_written_ - read_ <= bytes_.size() / 2;  // seen_written_ may be old, so too early at worst
  return is_room && take(control_.writer_sleeps);
}

bool RingReader::go_to_sleep() {
  const auto is_awake = [&] { return available() > 0 || broken_ || is_at_end(); };
  if (is_awake()) return false;
  control_.reader_sleeps.store(1);
  if (!is_awake()) return true;
  control_.reader_sleeps.store(0);
  return false;
}

}  // namespace burn::net
