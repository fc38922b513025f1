#include "daemon/operator/port.h"

#include <array>
#include <exception>
#include <thread>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "daemon/operator/conversation.h"
#include "net/listen/bind.h"
#include "net/listen/peer.h"
#include "net/listen/permits.h"
#include "net/listen/socket_acceptor.h"

namespace burn::daemon {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using asio::posix::stream_descriptor;

constexpr std::string_view kUnix = "unix:";
// Limits on reading from a peer after the last reply. Closing a socket with unread bytes resets the connection, and the
// peer may lose the reply.
constexpr auto kMaxLinger = std::chrono::seconds{1};
constexpr std::size_t kMaxLingerBytes = std::size_t{2} << 20;

// A connection; owned by its pending asynchronous operations.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Reply = HttpConversation::Reply;

  HttpConnection(asio::io_context& loop, net::UniqueFd socket, net::Permit permit, OperatorSource& source,
                 bool is_local)
      : permit_(std::move(permit)), socket_(loop, socket.release()), timer_(loop), conversation_(source, is_local) {}

  void serve() {
    start_timer();
    go_on();
  }

  // Replies with the reason why the connection is refused, and closes it.
  void refuse(std::string_view why) {
    start_timer();
    send(refused_connection_reply(why));
  }

 private:
  void start_timer() {
    timer_.expires_after(OperatorPort::kRequestTimeout);
    timer_.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error) self->on_timeout();
    });
  }

  void on_timeout() {
    if (timer_.expiry() > std::chrono::steady_clock::now()) return;  // the timer was restarted meanwhile
    if (is_sending_ || is_lingering_ || !conversation_.has_begun()) return close();
    send(HttpConversation::timed_out());  // if the socket is full, the next timeout closes it
    start_timer();
  }

  void go_on() {
    if (auto reply = conversation_.reply()) return send(*std::move(reply));
    read();
  }

  void read() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](ErrorCode error, std::size_t count) {
      if (error == asio::error::operation_aborted) return;
      if (error) return self->close();
      if (self->is_sending_ || self->is_lingering_) return;  // the request has timed out
      self->conversation_.add({self->buffer_.data(), count});
      self->go_on();
    });
  }

  void send(Reply reply) {
    is_sending_ = true;
    reply_ = std::move(reply);
    asio::async_write(socket_, asio::buffer(reply_.bytes), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->is_sending_ = false;
      if (error) return self->close();
      self->start_timer();
      self->reply_.is_last ? self->begin_linger() : self->go_on();
    });
  }

  void begin_linger() {
    is_lingering_ = true;
    ::shutdown(socket_.native_handle(), SHUT_WR);
    timer_.expires_after(kMaxLinger);
    timer_.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error) self->close();
    });
    linger();
  }

  void linger() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](ErrorCode error, std::size_t count) {
      self->lingered_ += count;
      if (error || self->lingered_ > kMaxLingerBytes) return self->close();
      self->linger();
    });
  }

  void close() {
    ErrorCode ignored;
    timer_.cancel();
    socket_.close(ignored);
  }

  const net::Permit permit_;
  stream_descriptor socket_;
  asio::steady_timer timer_;
  HttpConversation conversation_;
  std::array<char, 4096> buffer_{};
  Reply reply_;  // the reply being sent
  bool is_sending_ = false, is_lingering_ = false;
  std::size_t lingered_ = 0;
};

// A quarter is reserved for peers on this machine; unix sockets may have a few beyond the total.
std::shared_ptr<net::PermitPool> connection_permits() {
  constexpr net::PermitLimits kLimits{.all = OperatorPort::kMaxConnections,
                                      .per_peer = OperatorPort::kMaxOfOnePeer,
                                      .reserved_local = OperatorPort::kMaxConnections / 4,
                                      .extra_unix = 8};
  return std::make_shared<net::PermitPool>("connections to the operator's port", kLimits);
}

// Permits for connections that are told why they are refused; further ones are closed without a reply.
std::shared_ptr<net::PermitPool> refusal_permits() {
  constexpr net::PermitLimits kLimits{.all = OperatorPort::kMaxConnections, .per_peer = OperatorPort::kMaxConnections};
  return std::make_shared<net::PermitPool>("refused connections", kLimits);
}

struct Bound {
  net::BoundSocket socket;
  bool is_unix = false;
};

Bound bind(const std::string& address) {
  if (address.starts_with(net::kInherited)) {
    auto tcp = net::bind_tcp(address);
    if (tcp.ok()) return {*std::move(tcp)};
    return {value_or_throw(net::bind_unix(address)), true};
  }
  if (!address.starts_with(kUnix)) return {value_or_throw(net::bind_tcp(address))};
  auto socket = value_or_throw(net::bind_unix(address.substr(kUnix.size())));
  ::chmod(socket.address.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP);
  return {std::move(socket), true};
}

}  // namespace

class OperatorPort::Impl {
 public:
  Impl(const std::string& address, OperatorSource& source) : Impl(bind(address), source) {}

  ~Impl() {
    loop_.stop();
    thread_.join();
    if (!file_.empty()) ::unlink(file_.c_str());
  }

  const std::string& url() const { return url_; }

 private:
  Impl(Bound bound, OperatorSource& source)
      : source_(source),
        url_((bound.is_unix ? "unix:" : "http://") + bound.socket.address),
        file_(bound.socket.file),
        accepting_(loop_, std::move(bound.socket.fd), [this](net::UniqueFd client) { serve(std::move(client)); }) {
    accepting_.start();
    thread_ = start_thread("burn-operator", [this] { run(); });
  }

  // An exception thrown by a callback ends its connection; the loop continues for the others.
  void run() {
    while (!loop_.stopped()) {
      try {
        loop_.run();
      } catch (const std::exception&) {
      }
    }
  }

  void serve(net::UniqueFd client) {
    const auto peer = net::Peer::of(net::peer_name(client.get()));
    const bool is_local = peer.where != net::Peer::Where::elsewhere;
    const auto open = [&](net::Permit permit) {
      return std::make_shared<HttpConnection>(loop_, std::move(client), std::move(permit), source_, is_local);
    };
    auto permit = permits_->take(peer);
    if (permit.ok()) return open(*std::move(permit))->serve();
    if (auto refused = refusals_->take(peer); refused.ok())
      open(*std::move(refused))->refuse(permit.status().message());
  }

  OperatorSource& source_;
  const std::string url_, file_;
  const std::shared_ptr<net::PermitPool> permits_ = connection_permits(), refusals_ = refusal_permits();
  asio::io_context loop_{1};       // 1: a hint that one thread runs it
  net::SocketAcceptor accepting_;  // used on its thread only
  std::thread thread_;
};

OperatorPort::OperatorPort(const std::string& address, OperatorSource& source)
    : impl_(std::make_unique<Impl>(address, source)) {}

OperatorPort::~OperatorPort() = default;

const std::string& OperatorPort::url() const { return impl_->url(); }

}  // namespace burn::daemon
