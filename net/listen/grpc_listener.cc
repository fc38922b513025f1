#include <algorithm>
#include <chrono>
#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include "net/listen/accept_loop.h"
#include "net/listen/bind.h"
#include "net/listen/grpc_calls.h"
#include "net/listen/grpc_tls.h"
#include "net/listen/listener.h"
#include "net/listen/open_connections.h"
#include "net/transport/grpc_bytes.h"
#include "net/transport/grpc_loop.h"

namespace burn::net {
namespace {

constexpr int kThreads = 4;      // they move bytes and decode frames; gRPC assigns connections to them in turn
constexpr int kMaxStreams = 64;  // open at once on a connection; our client has one
constexpr const char* kUnixScheme = "grpc+unix:";

// Permits for connections, each of which may have a few calls. Somewhat more than permits for calls, so that one call
// too many is accepted and told why it is refused.
std::shared_ptr<PermitPool> connection_permits(const PermitLimits& calls) {
  PermitLimits limits = calls;
  const std::size_t more = std::min<std::size_t>(calls.all / 4 + 1, 16);
  limits.all += more;
  limits.per_peer += more;
  return std::make_shared<PermitPool>("connections", limits);
}

// Uses AcceptLoop instead of gRPC's own listener, which stops for good when no descriptor is free, counts nothing, and
// does not say why it cannot bind.
class GrpcListener final : public Listener {
 public:
  GrpcListener(Acceptor& acceptor, const ListenOptions& options)
      : options_(options),
        connections_(std::make_shared<OpenConnections>(permits_of(options))),
        calls_({.service = service_,
                .acceptor = acceptor,
                .connections = connections_,
                .watches = std::make_shared<PermitPool>("watches of health", PermitLimits{.all = 256, .per_peer = 64}),
                .accepting = [this]() -> AcceptLoop& { return *accepting_; },
                .end_timeout = std::chrono::seconds{options.handshake_timeout_seconds},
                .stall_timeout = std::chrono::seconds{options.idle_timeout_seconds},
                .has_tls = options.tls != nullptr}) {}

  // `scheme`: "grpc://".
  Status start(BoundSocket socket, const std::string& scheme);

  ~GrpcListener() override {
    if (accepting_) accepting_->stop();
    if (server_) {
      connections_->close(unavailable("the server is shutting down"));
      server_->Shutdown(std::chrono::system_clock::now());  // a later deadline would wait for silent connections
    }
    for (const auto& loop : loops_) loop->stop();  // only now: until then the server uses the queues
    if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
  }

  std::string url() const override { return url_; }

  // The socket stays open for health checks; other calls are refused.
  void stop_accepting() override { connections_->stop(); }
  void begin_drain() override { connections_->begin_drain(); }

 private:
  void hand_over(UniqueFd socket);

  const ListenOptions options_;
  const std::shared_ptr<OpenConnections> connections_;
  grpc::AsyncGenericService service_;
  GrpcCalls calls_;
  std::string url_, unix_path_;
  std::vector<std::shared_ptr<GrpcLoop>> loops_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> door_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<AcceptLoop> accepting_;
};

void set_limits(grpc::ServerBuilder& builder, const ListenOptions& options) {
  const int half_idle_ms = std::max(1, options.idle_timeout_seconds * 1000 / 2);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<std::size_t>(options.max_frame_bytes, INT_MAX)));
  // Compressed messages are not decompressed, as the size of the result would have no limit.
  for (const auto packed : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(packed, false);
  }
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  tune_grpc([&](const char* name, int value) { builder.AddChannelArgument(name, value); });
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, options.handshake_timeout_seconds * 1000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, options.idle_timeout_seconds * 1000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, half_idle_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, half_idle_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // gRPC must not answer too many pings with errors: an error is several times as large as a ping, and gRPC holds
  // errors for a peer that does not read. Received bytes are counted instead (accept_loop.h).
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

Status GrpcListener::start(BoundSocket socket, const std::string& scheme) {
  const std::string where = scheme + socket.address;
  grpc::EnableDefaultHealthCheckService(false);  // grpc_health.h
  grpc::ServerBuilder builder;
  set_limits(builder, options_);
  door_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc_server_credentials(options_.tls.get()));
  builder.RegisterAsyncGenericService(&service_);
  for (int i = 0; i < kThreads; ++i) loops_.push_back(std::make_shared<GrpcLoop>(builder.AddCompletionQueue()));
  server_ = builder.BuildAndStart();
  if (!server_) return unavailable("cannot listen on " + socket.address + ": gRPC does not start");
  url_ = where;
  unix_path_ = socket.file;
  // Called for each call, so it must exist before there are any.
  BURN_TRY(
      accepting_,
      AcceptLoop::start(std::move(socket.fd), connection_permits(permits_of(options_)->limits()),
                        {.accepted = [this](UniqueFd client) { hand_over(std::move(client)); },
                         .tick =
                             [this] {
                               connections_->tick();
                               calls_.tick();
                             },
                         .limit_exceeded = [this](const std::string& peer) { calls_.refuse_unauthenticated(peer); }}));
  for (const auto& loop : loops_) calls_.take(loop);
  return ok_status();
}

void GrpcListener::hand_over(UniqueFd socket) {
  tune_accepted(socket.get(), std::chrono::seconds{std::max(1, options_.idle_timeout_seconds / 2)});
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = socket.release();
  door_->HandleNewConnection(&connection);
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_grpc(const std::string& address, Acceptor& acceptor,
                                              const ListenOptions& options) {
  BURN_RETURN_IF_ERROR(keep_grpc_running());
  BURN_TRY(BoundSocket socket, bind_tcp(address, options.loopback_only));
  auto listener = std::make_unique<GrpcListener>(acceptor, options);
  BURN_RETURN_IF_ERROR(listener->start(std::move(socket), options.tls ? "grpcs://" : "grpc://"));
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> listen_grpc_unix(const std::string& path, Acceptor& acceptor,
                                                   const ListenOptions& options) {
  BURN_RETURN_IF_ERROR(keep_grpc_running());
  BURN_TRY(BoundSocket socket, bind_unix(path));
  ListenOptions plain = options;
  plain.tls = nullptr;
  auto listener = std::make_unique<GrpcListener>(acceptor, plain);
  BURN_RETURN_IF_ERROR(listener->start(std::move(socket), kUnixScheme));
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace burn::net
