#include <chrono>
#include <future>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "net/listen/bind.h"
#include "net/listen/listener.h"
#include "net/listen/open_connections.h"
#include "net/listen/socket_acceptor.h"
#include "net/tls/stream.h"
#include "net/transport/io_threads.h"
#include "net/transport/websocket.h"
#include "net/transport/ws_handshake.h"

namespace burn::net {
namespace {

namespace asio = boost::asio;

constexpr int kMaxThreads = 4;  // they only move bytes and decode frames

MakeTls accept_tls(const std::shared_ptr<tls::ServerTls>& tls) {
  if (!tls) return {};
  return [tls](int socket) { return tls::Stream::accept(tls, socket); };
}

class WebSocketListener final : public Listener {
 public:
  WebSocketListener(BoundSocket socket, std::string scheme, Acceptor& acceptor, const ListenOptions& options)
      : url_(std::move(scheme) + socket.address),
        acceptor_(acceptor),
        options_{.max_frame_bytes = options.max_frame_bytes,
                 .handshake_timeout = std::chrono::seconds{options.handshake_timeout_seconds},
                 .idle_timeout = std::chrono::seconds{options.idle_timeout_seconds},
                 .shared_memory = options.shared_memory,
                 .origins = options.origins,
                 .make_tls = accept_tls(options.tls)},
        connections_(std::make_shared<OpenConnections>(permits_of(options))),
        threads_(std::make_unique<IoThreads>(kMaxThreads)),
        loop_(threads_->first()),
        accepting_(*loop_, std::move(socket.fd), [this](UniqueFd client) { serve(std::move(client)); }) {
    asio::post(*loop_, [this] { accepting_.start(); });
  }

  ~WebSocketListener() override {
    stop_accepting();
    connections_->close(unavailable("the server is shutting down"));
    threads_.reset();  // waits for the threads
  }

  std::string url() const override { return url_; }

  void stop_accepting() override {
    if (loop_->get_executor().running_in_this_thread()) return accepting_.close();
    std::promise<void> closed;
    asio::post(*loop_, [&] {
      accepting_.close();
      closed.set_value();
    });
    closed.get_future().wait();
  }

 private:
  void serve(UniqueFd client) {
    const auto taken = connections_->take(Peer::of(peer_name(client.get())));
    if (!taken.ok()) return options_.make_tls ? void() : refuse(client, taken.status());
    const auto& [lease, full] = *taken;
    auto accept = [this, full = full](std::shared_ptr<proto::Channel> channel) {
      return full.ok() ? acceptor_.accept(std::move(channel)) : acceptor_.accept_returning(std::move(channel), full);
    };
    connections_->put(lease, serve_websocket(threads_->next(), std::move(client), options_, accept, lease));
  }

  // Sends what the socket accepts at once; nothing is kept for this client.
  static void refuse(const UniqueFd& client, const Status& why) {
    const auto response = ws::refuse_for_now(why.message());
    (void)::send(client.get(), response.data(), response.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(client.get(), SHUT_WR);
  }

  const std::string url_;
  Acceptor& acceptor_;
  const WebSocketOptions options_;
  const std::shared_ptr<OpenConnections> connections_;
  std::unique_ptr<IoThreads> threads_;
  const std::shared_ptr<IoContext> loop_;  // accepts connections
  SocketAcceptor accepting_;               // used on its thread only
};

// Removes the socket file when the listener is gone.
class UnixListener final : public Listener {
 public:
  UnixListener(std::string path, std::unique_ptr<Listener> listener)
      : path_(std::move(path)), listener_(std::move(listener)) {}
  ~UnixListener() override {
    listener_.reset();
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  std::string url() const override { return listener_->url(); }
  void stop_accepting() override { listener_->stop_accepting(); }

 private:
  const std::string path_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_websocket(const std::string& address, Acceptor& acceptor,
                                                   const ListenOptions& options) {
  BURN_TRY(BoundSocket socket, bind_tcp(address, options.loopback_only));
  const char* scheme = options.tls ? "wss://" : "ws://";
  return std::unique_ptr<Listener>(std::make_unique<WebSocketListener>(std::move(socket), scheme, acceptor, options));
}

Result<std::unique_ptr<Listener>> listen_unix(const std::string& path, Acceptor& acceptor,
                                              const ListenOptions& options) {
  BURN_TRY(BoundSocket socket, bind_unix(path));
  ListenOptions plain = options;
  plain.tls = nullptr;
  auto file = socket.file;
  auto listener = std::make_unique<WebSocketListener>(std::move(socket), "unix:", acceptor, plain);
  return std::unique_ptr<Listener>(std::make_unique<UnixListener>(std::move(file), std::move(listener)));
}

}  // namespace burn::net
