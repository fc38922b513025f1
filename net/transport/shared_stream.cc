#include "net/transport/shared_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include <sys/socket.h>

namespace burn::net {
namespace {

using Clock = LoopSocket::Clock;

// Bytes published to the peer at once, so that both sides copy at the same time.
constexpr std::size_t kPiece = std::size_t{64} << 10;
// After this many bytes, more are likely to arrive at once.
constexpr std::size_t kSpinAfterBytes = std::size_t{64} << 10;
constexpr auto kSpin = std::chrono::microseconds{100};  // time limit in one call
constexpr auto kLongYield = std::chrono::microseconds{500};
constexpr auto kRest = std::chrono::milliseconds{50};

std::size_t outgoing(SharedStream::Side side) { return side == SharedStream::Side::maker ? 0 : 1; }

}  // namespace

// If other threads want the processor, a yield costs a slice of their time, and sleeping threads are scheduled sooner.
// So after a long yield this returns false for a while.
bool SharedStream::SpinWait::wait() {
  const auto now = Clock::now();
  if (now < resting_until_) return false;
  if (!end_) end_ = now + kSpin;
  if (now >= *end_) return false;
  std::this_thread::yield();
  const auto after = Clock::now();
  if (after - now > kLongYield) resting_until_ = after + kRest;
  return true;
}

SharedStream::SharedStream(SharedMemory memory, Side side, int wake_socket)
    : memory_(std::move(memory)),
      wake_socket_(wake_socket),
      reader_(memory_.control(1 - outgoing(side)), memory_.bytes(1 - outgoing(side))),
      writer_(memory_.control(outgoing(side)), memory_.bytes(outgoing(side))) {}

SharedStream::Transfer SharedStream::read(std::span<const iovec> parts) {
  std::size_t available = reader_.available();
  reading_wait_.renew();
  while (available == 0 && read_awake_ >= kSpinAfterBytes && !is_over() && reading_wait_.wait())
    available = reader_.available();
  if (reader_.is_broken()) is_broken_ = true;
  if (is_broken_) return {0, EPROTO};
  if (available == 0) {
    if (is_gone_) return {0, gone_error_};
    if (reader_.is_at_end()) return {};
    return {0, EAGAIN};
  }
  std::size_t moved = 0;
  for (const iovec& part : parts) {
    std::span<std::byte> to{static_cast<std::byte*>(part.iov_base), part.iov_len};
    while (!to.empty() && (available > 0 || (available = reader_.available()) > 0)) {
      const std::size_t count = std::min({available, to.size(), kPiece});
      reader_.get(to.first(count));
      to = to.subspan(count);
      available -= count;
      moved += count;
      if (reader_.unreleased() >= kPiece) release();
    }
    if (!to.empty()) break;  // later bytes belong in this part, not in the next
  }
  release();
  read_awake_ += moved;
  return {moved, 0, read_awake_ >= kSpinAfterBytes};
}

void SharedStream::on_wake() {
  std::array<char, 64> wakes;
  const auto heard = ::recv(wake_socket_, wakes.data(), wakes.size(), MSG_DONTWAIT);
  if (heard > 0 || (heard < 0 && (errno == EAGAIN || errno == EINTR))) return;
  gone_error_ = heard < 0 ? errno : 0;
  is_gone_ = true;
}

bool SharedStream::waits_for_input() {
  if (is_over() || !reader_.go_to_sleep()) return false;
  read_awake_ = 0;
  return true;
}

SharedStream::Transfer SharedStream::write(std::span<const iovec> parts) {
  if (is_broken_) return {0, EPROTO};
  if (is_gone_) return {0, EPIPE};
  std::size_t moved = 0;
  std::size_t space = writer_.space();
  writing_wait_.renew();
  for (const iovec& part : parts) {
    std::span<const std::byte> from{static_cast<const std::byte*>(part.iov_base), part.iov_len};
    while (!from.empty()) {
      if (space < std::min(from.size(), kPiece)) {
        publish();  // so that the reader can make space
        do {
          space = writer_.space();
        } while (space < std::min(from.size(), kPiece) && !is_over() && writing_wait_.wait());
        if (writer_.is_broken()) is_broken_ = true;
        if (is_broken_) return {0, EPROTO};
        if (space == 0) return {moved, moved > 0 ? 0 : EAGAIN};
      }
      const std::size_t count = std::min({space, from.size(), kPiece});
      writer_.put(from.first(count));
      from = from.subspan(count);
      space -= count;
      moved += count;
      if (writer_.unpublished() >= kPiece) publish();
    }
  }
  publish();
  return {moved, 0};
}

bool SharedStream::waits_for_space() { return !is_over() && writer_.go_to_sleep(); }

void SharedStream::close_writing() {
  if (writer_.close()) wake_peer();
}

void SharedStream::release() {
  if (reader_.release()) wake_peer();
}

void SharedStream::publish() {
  if (writer_.publish()) wake_peer();
}

// send() may fail: a full socket holds enough bytes to wake the peer, and the reading side notices when the peer is
// gone.
void SharedStream::wake_peer() const { (void)::send(wake_socket_, "\a", 1, MSG_DONTWAIT | MSG_NOSIGNAL); }

}  // namespace burn::net
