// A connected stream socket (TCP or unix) that belongs to an event loop. A unix socket's bytes may be moved into shared
// memory, and TCP's may be encrypted, invisibly to the user. Asio's headers are included in the .cc file only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "net/transport/io_threads.h"
#include "net/transport/secure.h"
#include "net/transport/socket.h"
#include "proto/channel.h"

struct iovec;

namespace burn::net {

class SharedMemory;
class SharedStream;

// Waiting, reading and closing require the loop's thread; the rest is thread-safe. Callbacks run on the loop's thread.
class LoopSocket : public std::enable_shared_from_this<LoopSocket> {
 public:
  using Clock = std::chrono::steady_clock;
  // A system call's result. Reading: 0 bytes without an error mean the end of the stream.
  struct Transfer {
    std::size_t bytes = 0;
    int error = 0;
    bool is_more = false;  // reading: more may be read at once
    bool would_block() const;
  };

  // `make_tls`: creates the socket's TLS; empty: without TLS.
  LoopSocket(std::shared_ptr<IoContext> loop, UniqueFd socket, const MakeTls& make_tls = {});
  ~LoopSocket();

  const std::string& peer() const { return peer_; }

  // Sets the function to be called on the loop's thread when a callback has thrown, for lack of memory: only this
  // socket's owner must end. Requires: called before the first callback.
  void on_failure(std::function<void(const char* why)> failed) { failed_ = std::move(failed); }

  // Continues the TLS handshake, before anything is read or written; on the loop's thread. True: it is done, or there
  // is no TLS. False: call again after wait_secure(). Errors: those of tls::Stream::do_handshake().
  Result<bool> secure();
  void wait_secure(std::function<void()> ready);
  bool is_secure() const { return is_secure_; }  // whether it has TLS
  // Why TLS has failed; ok if it has not, or there is none.
  Status tls_failure() const;
  // What TLS has proved about the peer. Thread-safe once secure() has returned true.
  const proto::PeerSecurity& peer_security() const { return peer_security_; }

  void post(std::function<void()> work);      // runs `work` later
  void dispatch(std::function<void()> work);  // runs `work` now if this is the loop's thread, else later

  // `ready` is called once, unless the socket is closed first.
  void wait_readable(std::function<void()> ready);
  void wait_writable(std::function<void()> ready);
  // Calls `over` after `duration`. Replaces an earlier timer.
  void wait_for(Clock::duration duration, std::function<void()> over);

  Transfer read(std::span<iovec> parts);
  bool has_input() const;
  // Writes as much as the kernel accepts now; EPIPE once the socket is closed.
  Transfer write(std::span<iovec> parts);
  void shutdown_writing();
  // Ends both directions: the reader finds the end of the stream.
  void shutdown();

  void close();

  // For a handshake about shared memory, on the loop's thread. On a unix socket a descriptor may be sent with some
  // bytes; the receiver keeps it only after await_descriptor().
  bool is_unix() const;
  Transfer write_with(std::span<iovec> parts, const UniqueFd& descriptor);
  void await_descriptor() { awaits_descriptor_ = true; }
  UniqueFd take_descriptor();
  // From now on all bytes go through `memory`, made by this side (`is_own`) or by the peer; the peer must do the same.
  void move_into(SharedMemory memory, bool is_own);

 private:
  struct Waits;

  template <typename Callback>
  auto guarded(Callback callback);
  Transfer receive(std::span<iovec> parts);
  void look();
  void listen_for_wake();

  const std::shared_ptr<IoContext> loop_;
  const std::string peer_;
  std::function<void(const char* why)> failed_;
  std::unique_ptr<Waits> waits_;
  bool awaits_descriptor_ = false;
  UniqueFd descriptor_;

  // With shared memory: the callbacks that wait. A byte on the socket may mean either, so there is one listener for
  // both.
  std::function<void()> readable_, writable_;
  bool is_listening_ = false;

  bool is_secure_ = false;
  proto::PeerSecurity peer_security_;

  mutable std::mutex mutex_;  // guards the following; the loop's thread, which closes them, reads without it
  int fd_ = -1;               // -1: closed
  std::unique_ptr<SharedStream> shared_;
  std::unique_ptr<tls::Stream> tls_;  // used only with the lock
};

}  // namespace burn::net
