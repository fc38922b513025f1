// A connection in shared memory as it looks from one of its ends: reads and writes like a socket that does not block.
// The unix socket that it was agreed on remains, to wake the peer and as its sign of life: a byte on it says "look",
// its end that the peer is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

#include <sys/uio.h>

#include "net/transport/loop_socket.h"
#include "net/transport/shared_memory.h"

namespace burn::net {

// Reading and on_wake() are for one thread at a time, and so is writing.
class SharedStream {
 public:
  enum class Side { maker, other };
  using Transfer = LoopSocket::Transfer;

  // `wake_socket`: the unix socket, which outlives this.
  SharedStream(SharedMemory memory, Side side, int wake_socket);

  // The reading side. An error EPROTO: the peer broke the rules of the rings.
  Transfer read(std::span<const iovec> parts);
  bool has_input() { return reader_.available() > 0; }
  // Takes the bytes that came on the socket, which mean no more than that it has something to see, and finds out
  // whether the peer is gone.
  void on_wake();
  // True: there is nothing to read, and the peer sends a byte on the socket when there is.
  bool waits_for_input();

  // The writing side.
  Transfer write(std::span<const iovec> parts);
  // True: there is little space, and the peer sends a byte on the socket when there is more.
  bool waits_for_space();
  void close_writing();

 private:
  // In the middle of much data neither side sleeps: to be woken takes longer than the other needs for its next piece.
  // It yields, or a busy machine would keep the other from it.
  class SpinWait {
   public:
    void renew() { end_.reset(); }  // for another call
    bool wait();                    // false: it has come to an end

   private:
    std::optional<LoopSocket::Clock::time_point> end_;
    LoopSocket::Clock::time_point resting_until_;
  };

  bool is_over() const { return is_gone_ || is_broken_; }
  void release();
  void publish();
  void wake_peer() const;

  SharedMemory memory_;
  const int wake_socket_;
  RingReader reader_;
  RingWriter writer_;
  SpinWait reading_wait_, writing_wait_;
  std::size_t read_awake_ = 0;  // bytes since the reader last slept

  std::atomic<bool> is_gone_ = false;  // the peer is; what it wrote before may still be here
  int gone_error_ = 0;
  std::atomic<bool> is_broken_ = false;
};

}  // namespace burn::net
