// A connected stream socket (TCP or unix) that belongs to an event loop; a unix socket's bytes may be moved into shared
// memory, and TCP's be encrypted, which is not to be noticed from outside. Asio stays in the .cc file.
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

// Waiting, reading and closing are for the loop's thread; the rest is thread-safe. Callbacks run on the loop's thread.
class LoopSocket : public std::enable_shared_from_this<LoopSocket> {
 public:
  using Clock = std::chrono::steady_clock;
  // A system call's result. Reading: 0 bytes without an error are the end.
  struct Transfer {
    std::size_t bytes = 0;
    int error = 0;
    bool is_more = false;  // reading: it is worth another try at once
    bool would_block() const;
  };

  // `make_tls`: makes the socket's TLS; empty: it has none.
  LoopSocket(std::shared_ptr<IoContext> loop, UniqueFd socket, const MakeTls& make_tls = {});
  ~LoopSocket();

  const std::string& peer() const { return peer_; }

  // Called on the loop's thread when a callback has thrown, as it does where there is no memory: this socket's owner
  // alone is to end. Before the first callback.
  void on_failure(std::function<void(const char* why)> failed) { failed_ = std::move(failed); }

  // The handshake of TLS, before anything is read or written; for the loop's thread. True: it is done, or there is no
  // TLS. False: to be called again after wait_secure(). Errors: tls::Stream::shake_hands()'s.
  Result<bool> secure();
  void wait_secure(std::function<void()> ready);
  bool is_secure() const { return is_secure_; }  // it has TLS
  // Why TLS has ended; ok where it has not, or there is none.
  Status tls_failure() const;
  // What the peer has proved by TLS. Thread-safe once secure() is true.
  const proto::PeerSecurity& peer_security() const { return peer_security_; }

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

  // Shared memory, for a handshake on the loop's thread. On a unix socket a descriptor may travel with some bytes; it
  // is kept by a peer that has said that it awaits one.
  bool is_unix() const;
  Transfer write_with(std::span<iovec> parts, const UniqueFd& descriptor);
  void await_descriptor() { awaits_descriptor_ = true; }
  UniqueFd take_descriptor();
  // From now on all bytes go through memory, which is this side's own or the peer's; the peer has to do the same.
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

  // With shared memory: what is waited for. One byte on the socket may mean either, so it has one listener.
  std::function<void()> readable_, writable_;
  bool is_listening_ = false;

  bool is_secure_ = false;
  proto::PeerSecurity peer_security_;

  mutable std::mutex mutex_;  // over using and closing what follows; the loop's thread, which closes, reads it without
  int fd_ = -1;               // -1: closed
  std::unique_ptr<SharedStream> shared_;
  std::unique_ptr<tls::Stream> tls_;  // used with the lock alone
};

}  // namespace burn::net
