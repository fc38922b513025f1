// One end of a connection in shared memory: reads and writes like a non-blocking socket. The unix socket on which the
// memory was agreed stays open, to wake the peer and to detect its end: a byte on it means "check the rings", its end
// that the peer is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

#include <sys/uio.h>

#include "net/transport/loop_socket.h"
#include "net/transport/shared_memory.h"

namespace burn::net {

// Reading and on_wake() are for one thread at a time; writing is for one thread at a time, which may be another.
class SharedStream {
 public:
  enum class Side { maker, other };
  using Transfer = LoopSocket::Transfer;

  // `wake_socket`: the unix socket, which must outlive this.
  SharedStream(SharedMemory memory, Side side, int wake_socket);

  // The reading side. Error EPROTO: the peer broke the rules of the rings.
  Transfer read(std::span<const iovec> parts);
  bool has_input() { return reader_.available() > 0; }
  // Reads the bytes that arrived on the socket, whose only meaning is that there is something to check, and detects
  // whether the peer is gone.
  void on_wake();
  // Returns true if there is nothing to read; the peer then sends a byte on the socket when there is.
  bool waits_for_input();

  // The writing side.
  Transfer write(std::span<const iovec> parts);
  // Returns true if there is little space; the peer then sends a byte on the socket when there is more.
  bool waits_for_space();
  void close_writing();

 private:
  // In the middle of a large transfer neither side sleeps, as waking up takes longer than the other side needs for its
  // next piece. The waiting side yields, so that on a busy machine the other side can run.
  class SpinWait {
   public:
    void renew() { end_.reset(); }  // resets the time limit, for another call
    bool wait();                    // false: the time limit is reached

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
  std::size_t read_awake_ = 0;  // bytes read since the reader last slept

  std::atomic<bool> is_gone_ = false;  // the peer is gone; bytes that it wrote before may still be unread
  int gone_error_ = 0;
  std::atomic<bool> is_broken_ = false;
};

}  // namespace burn::net
