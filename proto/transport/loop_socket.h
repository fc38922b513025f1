// A connected stream socket (TCP or unix) that belongs to an event loop. Asio stays in the .cc file.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "proto/transport/io_threads.h"
#include "proto/transport/socket.h"

struct iovec;

namespace burn::proto {

// Waiting, reading and closing are for the loop's thread; the rest is thread-safe. Callbacks run on the loop's thread.
class LoopSocket {
 public:
  using Clock = std::chrono::steady_clock;
  // A system call's result. Reading: 0 bytes without an error are the end.
  struct Transfer {
    std::size_t bytes = 0;
    int error = 0;
    bool would_block() const;
  };

  LoopSocket(std::shared_ptr<IoContext> loop, UniqueFd socket);
  ~LoopSocket();

  const std::string& peer() const { return peer_; }

  void post(std::function<void()> work);      // later
  void dispatch(std::function<void()> work);  // now, if this is the loop's thread

  // `ready` is called once, unless the socket is closed first.
  void wait_readable(std::function<void()> ready);
  void wait_writable(std::function<void()> ready);
  // Replaces what was waited for so far.
  void wait_for(Clock::duration duration, std::function<void()> over);

  Transfer read(std::span<iovec> parts);
  bool has_input() const;
  // Takes what the kernel takes now; EPIPE once the socket is closed.
  Transfer write(std::span<iovec> parts);
  void shutdown_writing();
  // The reader finds the end.
  void shutdown();

  void close();

 private:
  struct Waits;

  const std::shared_ptr<IoContext> loop_;
  const std::string peer_;
  std::unique_ptr<Waits> waits_;

  std::mutex mutex_;  // over using and closing the descriptor; the loop's thread, which closes, reads it without
  int fd_ = -1;       // -1: closed
};

}  // namespace burn::proto
