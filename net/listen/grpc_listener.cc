#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "net/listen/bind.h"
#include "net/listen/grpc_stream.h"
#include "net/listen/listener.h"
#include "net/listen/open_connections.h"
#include "net/transport/grpc_bytes.h"
#include "net/transport/grpc_loop.h"

namespace burn::net {
namespace {

constexpr int kThreads = 2;  // they move bytes and decode; the work is done elsewhere

// By default all threads that wait within gRPC share one epoll set, and whoever finds an event that is not his wakes
// whom it is for: several more changes of threads for a message. With poll each waits for its own connections.
Status start_grpc() {
  [[maybe_unused]] static const int once = ::setenv("GRPC_POLL_STRATEGY", "poll", 0);  // 0: what the user chose stands
  return keep_grpc_running();
}

class GrpcListener final : public Listener {
 public:
  GrpcListener(Acceptor& acceptor, const ListenOptions& options)
      : connections_(std::make_shared<OpenConnections>(options.max_connections)),
        calls_{service_, acceptor, connections_} {}

  Status start(const std::string& address, const ListenOptions& options);
  Status start_unix(const std::string& path, const ListenOptions& options);

  ~GrpcListener() override {
    if (!server_) return;
    connections_->close(unavailable("the server is shutting down"));
    server_->Shutdown(std::chrono::system_clock::now());  // later, it would wait for connections that say nothing
    for (const auto& loop : loops_) loop->stop();         // not before: a server still uses its queues
  }

  std::string url() const override { return url_; }

  // gRPC keeps the socket until its end; calls are refused.
  void stop_accepting() override { connections_->stop(); }

 private:
  // The port that was bound; nothing if it could not be.
  std::optional<int> serve(const std::string& address, const ListenOptions& options);

  const std::shared_ptr<OpenConnections> connections_;
  grpc::AsyncGenericService service_;
  GrpcCalls calls_;
  std::string url_;
  std::vector<std::shared_ptr<GrpcLoop>> loops_;
  std::unique_ptr<grpc::Server> server_;
};

void set_limits(grpc::ServerBuilder& builder, const ListenOptions& options) {
  const int half_idle_ms = std::max(1, options.idle_timeout_seconds * 1000 / 2);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<std::size_t>(options.max_frame_bytes, INT_MAX)));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error, not half of the clients
  tune_grpc([&](const char* name, int value) { builder.AddChannelArgument(name, value); });
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, options.handshake_timeout_seconds * 1000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, options.idle_timeout_seconds * 1000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, half_idle_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, half_idle_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
}

Status GrpcListener::start(const std::string& address, const ListenOptions& options) {
  // Bound once by ourselves, for the address to be a numeric one, and for a sentence when that fails: gRPC gives none.
  BURN_TRY(BoundSocket probe, bind_tcp(address));
  probe.fd = {};
  BURN_TRY(const HostPort wanted, parse_host_port(address));
  BURN_TRY(HostPort bound, parse_host_port(probe.address));
  bound.port = wanted.port;  // if that is 0, gRPC picks one
  const auto port = serve(to_string(bound), options);
  if (!port) return unavailable("cannot listen on " + address + ": gRPC could not bind it");
  bound.port = static_cast<std::uint16_t>(*port);
  url_ = "grpc://" + to_string(bound);
  return ok_status();
}

Status GrpcListener::start_unix(const std::string& path, const ListenOptions& options) {
  BURN_TRY(BoundSocket probe, bind_unix(path));  // gRPC would replace anything that has the name
  probe.fd = {};
  if (!serve("unix:" + path, options)) return unavailable("cannot listen on " + path + ": gRPC could not bind it");
  url_ = "grpc+unix:" + path;
  return ok_status();
}

std::optional<int> GrpcListener::serve(const std::string& address, const ListenOptions& options) {
  grpc::EnableDefaultHealthCheckService(false);  // grpc_health.h
  grpc::ServerBuilder builder;
  set_limits(builder, options);
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterAsyncGenericService(&service_);
  for (int i = 0; i < kThreads; ++i) loops_.push_back(std::make_shared<GrpcLoop>(builder.AddCompletionQueue()));
  server_ = builder.BuildAndStart();
  if (!server_) return std::nullopt;
  for (const auto& loop : loops_) take_calls(calls_, loop);
  return port;
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_grpc(const std::string& address, Acceptor& acceptor,
                                              const ListenOptions& options) {
  BURN_RETURN_IF_ERROR(start_grpc());
  auto listener = std::make_unique<GrpcListener>(acceptor, options);
  BURN_RETURN_IF_ERROR(listener->start(address, options));
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> listen_grpc_unix(const std::string& path, Acceptor& acceptor,
                                                   const ListenOptions& options) {
  BURN_RETURN_IF_ERROR(start_grpc());
  auto listener = std::make_unique<GrpcListener>(acceptor, options);
  BURN_RETURN_IF_ERROR(listener->start_unix(path, options));
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace burn::net
