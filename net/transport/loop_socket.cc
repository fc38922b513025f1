#include "net/transport/loop_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <sys/socket.h>

#include "net/tls/stream.h"
#include "net/transport/shared_stream.h"

namespace burn::net {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

struct LoopSocket::Waits {
  using Executor = IoContext::executor_type;
  using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
  using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

  Waits(IoContext& loop, int fd) : descriptor(loop, fd), timer(loop) {}

  Descriptor descriptor;
  Timer timer;
};

namespace {

LoopSocket::Transfer result(ssize_t n) {
  if (n < 0) return {0, errno};
  return {static_cast<std::size_t>(n), 0};
}

template <typename Callback>
auto unless_closed(Callback callback) {
  return [callback = std::move(callback)](ErrorCode error) {
    if (!error) callback();
  };
}

}  // namespace

// An exception in a callback ends its socket, and nothing else on the loop. The loop keeps callbacks even when it has
// ended and will never run them, so they must not own the socket, which owns the loop.
template <typename Callback>
auto LoopSocket::guarded(Callback callback) {
  return [weak = weak_from_this(), callback = std::move(callback)] {
    const auto self = weak.lock();
    if (!self) return;
    try {
      callback();
    } catch (const std::exception& error) {
      if (self->failed_) self->failed_(error.what());
    }
  };
}

bool LoopSocket::Transfer::would_block() const { return error == EAGAIN || error == EINTR; }

LoopSocket::LoopSocket(std::shared_ptr<IoContext> loop, UniqueFd socket, const MakeTls& make_tls)
    : loop_(std::move(loop)),
      peer_(peer_name(socket.get())),
      is_secure_(static_cast<bool>(make_tls)),
      tls_(make_tls ? make_tls(socket.get()) : nullptr) {
  waits_ = std::make_unique<Waits>(*loop_, socket.get());
  fd_ = socket.release();
  tune_stream(fd_);
}

LoopSocket::~LoopSocket() = default;

void LoopSocket::post(std::function<void()> work) { asio::post(*loop_, guarded(std::move(work))); }
void LoopSocket::dispatch(std::function<void()> work) { asio::dispatch(*loop_, guarded(std::move(work))); }

void LoopSocket::wait_readable(std::function<void()> ready) {
  if (!waits_) return;
  if (!shared_)
    return waits_->descriptor.async_wait(Waits::Descriptor::wait_read, unless_closed(guarded(std::move(ready))));
  readable_ = std::move(ready);
  look();
}

void LoopSocket::wait_writable(std::function<void()> ready) {
  if (!waits_) return;
  if (!shared_)
    return waits_->descriptor.async_wait(Waits::Descriptor::wait_write, unless_closed(guarded(std::move(ready))));
  writable_ = std::move(ready);
  look();
}

void LoopSocket::wait_for(Clock::duration duration, std::function<void()> over) {
  if (!waits_) return;
  waits_->timer.expires_after(duration);
  waits_->timer.async_wait(unless_closed(guarded(std::move(over))));
}

LoopSocket::Transfer LoopSocket::read(std::span<iovec> parts) {
  if (shared_) return shared_->read(parts);
  if (is_secure_) {
    const std::lock_guard lock(mutex_);
    if (!tls_) return {0, EPIPE};
    const auto moved = tls_->read(parts);
    return {moved.bytes, moved.error, moved.is_more};
  }
  Transfer got = receive(parts);
  std::size_t wanted = 0;
  for (const iovec& part : parts) wanted += part.iov_len;
  got.is_more = got.bytes == wanted;
  return got;
}

bool LoopSocket::has_input() const {
  if (shared_) return shared_->has_input();
  if (is_secure_) {
    const std::lock_guard lock(mutex_);
    return tls_ && tls_->has_input();
  }
  char byte;
  return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

LoopSocket::Transfer LoopSocket::write(std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return {0, EPIPE};
  if (shared_) return shared_->write(parts);
  if (tls_) {
    const auto moved = tls_->write(parts);
    return {moved.bytes, moved.error};
  }
  return result(::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void LoopSocket::shutdown_writing() {
  const std::lock_guard lock(mutex_);
  if (shared_) return shared_->close_writing();  // the socket stays open, as the peer needs it to wake this side
  if (tls_) tls_->end_writing();
  ::shutdown(fd_, SHUT_WR);
}

void LoopSocket::shutdown() {
  const std::lock_guard lock(mutex_);
  ::shutdown(fd_, SHUT_RDWR);
}

void LoopSocket::close() {
  // These may hold the last references to the owner of this socket, so they are destroyed last.
  const auto readable = std::exchange(readable_, nullptr), writable = std::exchange(writable_, nullptr);
  const std::lock_guard lock(mutex_);
  shared_.reset();
  tls_.reset();
  fd_ = -1;
  waits_.reset();
}

// --- TLS -------------------------------------------------------------------------------------------------------------

Result<bool> LoopSocket::secure() {
  const std::lock_guard lock(mutex_);
  if (!is_secure_) return true;
  if (!tls_) return unavailable("closed");
  BURN_TRY(const bool is_done, tls_->do_handshake());
  if (is_done) peer_security_ = {.is_encrypted = true, .names = tls_->peer_names()};
  return is_done;
}

void LoopSocket::wait_secure(std::function<void()> ready) {
  std::unique_lock lock(mutex_);
  const bool writes = tls_ && tls_->wants_to_write();
  lock.unlock();
  writes ? wait_writable(std::move(ready)) : wait_readable(std::move(ready));
}

Status LoopSocket::tls_failure() const {
  const std::lock_guard lock(mutex_);
  return tls_ ? tls_->failure() : Status{};
}

// --- shared memory ---------------------------------------------------------------------------------------------------

bool LoopSocket::is_unix() const {
  int family = 0;
  socklen_t size = sizeof family;
  return ::getsockopt(fd_, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family == AF_UNIX;
}

LoopSocket::Transfer LoopSocket::write_with(std::span<iovec> parts, const UniqueFd& descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = descriptor.get();
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return result(::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

LoopSocket::Transfer LoopSocket::receive(std::span<iovec> parts) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (awaits_descriptor_) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  const auto count = ::recvmsg(fd_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 || !awaits_descriptor_) return result(count);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    descriptor_ = UniqueFd{fd};
  }
  return result(count);
}

UniqueFd LoopSocket::take_descriptor() {
  awaits_descriptor_ = false;
  return std::move(descriptor_);
}

void LoopSocket::move_into(SharedMemory memory, bool is_own) {
  const auto side = is_own ? SharedStream::Side::maker : SharedStream::Side::other;
  const std::lock_guard lock(mutex_);
  shared_ = std::make_unique<SharedStream>(std::move(memory), side, fd_);
}

// Posts the callbacks that need not wait any more; for the others listens for the peer's wake-up.
void LoopSocket::look() {
  if (readable_ && !shared_->waits_for_input()) post(std::exchange(readable_, nullptr));
  if (writable_ && !shared_->waits_for_space()) post(std::exchange(writable_, nullptr));
  if (readable_ || writable_) listen_for_wake();
}

void LoopSocket::listen_for_wake() {
  if (std::exchange(is_listening_, true)) return;
  waits_->descriptor.async_wait(Waits::Descriptor::wait_read, unless_closed(guarded([self = shared_from_this()] {
                                  self->is_listening_ = false;
                                  if (!self->waits_) return;  // closed since the wake-up
                                  self->shared_->on_wake();
                                  self->look();
                                })));
}

}  // namespace burn::net
