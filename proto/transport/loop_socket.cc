#include "proto/transport/loop_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

namespace burn::proto {

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

bool LoopSocket::Transfer::would_block() const { return error == EAGAIN || error == EINTR; }

LoopSocket::LoopSocket(std::shared_ptr<IoContext> loop, UniqueFd socket)
    : loop_(std::move(loop)),
      peer_(peer_name(socket.get())),
      waits_(std::make_unique<Waits>(*loop_, socket.get())),
      fd_(socket.release()) {
  tune_stream(fd_);
}

LoopSocket::~LoopSocket() = default;

void LoopSocket::post(std::function<void()> work) { asio::post(*loop_, std::move(work)); }
void LoopSocket::dispatch(std::function<void()> work) { asio::dispatch(*loop_, std::move(work)); }

void LoopSocket::wait_readable(std::function<void()> ready) {
  if (waits_) waits_->descriptor.async_wait(Waits::Descriptor::wait_read, unless_closed(std::move(ready)));
}

void LoopSocket::wait_writable(std::function<void()> ready) {
  if (waits_) waits_->descriptor.async_wait(Waits::Descriptor::wait_write, unless_closed(std::move(ready)));
}

void LoopSocket::wait_for(Clock::duration duration, std::function<void()> over) {
  if (!waits_) return;
  waits_->timer.expires_after(duration);
  waits_->timer.async_wait(unless_closed(std::move(over)));
}

LoopSocket::Transfer LoopSocket::read(std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return result(::recvmsg(fd_, &message, MSG_DONTWAIT));
}

bool LoopSocket::has_input() const {
  char byte;
  return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

LoopSocket::Transfer LoopSocket::write(std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return {0, EPIPE};
  return result(::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

void LoopSocket::shutdown_writing() {
  const std::lock_guard lock(mutex_);
  ::shutdown(fd_, SHUT_WR);
}

void LoopSocket::shutdown() {
  const std::lock_guard lock(mutex_);
  ::shutdown(fd_, SHUT_RDWR);
}

void LoopSocket::close() {
  const std::lock_guard lock(mutex_);
  fd_ = -1;
  waits_.reset();
}

}  // namespace burn::proto
