// Accepts the connections of a listening socket on an event loop, for transports that serve them on that loop.
#pragma once

#include <cerrno>
#include <chrono>
#include <exception>
#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>

#include "net/transport/socket.h"

namespace burn::net {

// Used on the loop's thread only.
class SocketAcceptor {
 public:
  // `accepted`: called with each connection, non-blocking. If it throws, the connection is closed.
  SocketAcceptor(boost::asio::io_context& loop, UniqueFd listening, std::function<void(UniqueFd)> accepted)
      : socket_(loop, listening.release()), pause_(loop), accepted_(std::move(accepted)) {}

  void start() {
    if (!socket_.is_open()) return;
    socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
      if (!error) accept_all();
    });
  }
  // Nothing is accepted any more.
  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    pause_.cancel();
  }

 private:
  static constexpr std::chrono::milliseconds kPause{100};  // before a retry after accept() failed

  void accept_all() {
    for (;;) {
      UniqueFd client{::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (client) {
        try {
          accepted_(std::move(client));
        } catch (const std::exception&) {  // no memory: the connection is closed
        }
      } else if (errno == EAGAIN) {
        return start();
      } else if (errno != ECONNABORTED && errno != EINTR) {  // out of file descriptors, most likely
        pause_.expires_after(kPause);
        return pause_.async_wait([this](boost::system::error_code error) {
          if (!error) start();
        });
      }
    }
  }

  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer pause_;
  const std::function<void(UniqueFd)> accepted_;
};

}  // namespace burn::net
