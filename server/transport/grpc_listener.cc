#include <algorithm>
#include <chrono>
#include <climits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "proto/transport/grpc_bytes.h"
#include "proto/transport/handler_gate.h"
#include "proto/transport/send_queue.h"
#include "server/transport/bind.h"
#include "server/transport/listener.h"
#include "server/transport/open_connections.h"

namespace burn::server {
namespace {

// "ipv4:127.0.0.1:40312" and "ipv6:%5B::1%5D:40312" as others write them.
std::string peer_name(std::string uri) {
  const auto replace = [&uri](std::string_view what, std::string_view with) {
    if (const auto at = uri.find(what); at != std::string::npos) uri.replace(at, what.size(), with);
  };
  for (const std::string_view scheme : {"ipv4:", "ipv6:"}) {
    if (uri.starts_with(scheme)) uri.erase(0, scheme.size());
  }
  replace("%5B", "[");
  replace("%5D", "]");
  return uri;
}

// One call of Connect. gRPC runs its reactions on several threads; it is done with this object when OnDone is called.
class Stream final : public grpc::ServerGenericBidiReactor, public proto::Abortable,
                     public std::enable_shared_from_this<Stream> {
 public:
  Stream(grpc::GenericCallbackServerContext* context, OpenConnections::Lease lease)
      : context_(context), peer_(peer_name(context->peer())), lease_(std::move(lease)) {}

  // Requires: once, after the constructor.
  void start(Acceptor& acceptor);

  void send(proto::EncodedFrame frame, proto::Lane lane) {
    if (queue_.push(std::move(frame), lane)) pump();
  }
  void begin_burst() { queue_.begin_burst(); }
  void end_burst() {
    if (queue_.end_burst()) pump();
  }
  void flush() {
    if (queue_.flush()) pump();
  }
  void close() {
    if (queue_.close()) pump();
  }
  void detach() {
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override {
    queue_.discard();
    std::lock_guard lock(mutex_);
    if (done_) return;
    if (!why_) why_ = std::move(why);
    if (started_) context_->TryCancel();  // OnCancel follows
  }

  std::size_t queued_bytes() const { return queue_.bytes(); }
  const std::string& peer() const { return peer_; }

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void pump();
  void finish(const grpc::Status& answer);
  void finish_when_written();  // Requires: the lock.

  grpc::GenericCallbackServerContext* const context_;  // until done_
  const std::string peer_;
  OpenConnections::Lease lease_;
  proto::SendQueue queue_;
  proto::GrpcPacker packer_;
  proto::HandlerGate gate_;
  std::shared_ptr<Stream> self_;  // gRPC's share, until OnDone
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  std::mutex mutex_;  // over what follows, and over starting operations
  bool started_ = false;
  bool writing_ = false;                // gRPC has outgoing_
  std::optional<grpc::Status> answer_;  // to finish with; nothing is written any more
  bool finished_ = false;
  bool cancelled_ = false;     // by the peer or the transport, unless it was us
  std::optional<Status> why_;  // we end it
  bool done_ = false;
};

class GrpcChannel final : public proto::Channel {
 public:
  explicit GrpcChannel(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~GrpcChannel() override { stream_->detach(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override { stream_->send(std::move(frame), lane); }
  void begin_burst() override { stream_->begin_burst(); }
  void end_burst() override { stream_->end_burst(); }
  void flush() override { stream_->flush(); }
  void close() override { stream_->close(); }
  std::size_t queued_bytes() const override { return stream_->queued_bytes(); }
  std::string peer() const override { return stream_->peer(); }

 private:
  const std::shared_ptr<Stream> stream_;
};

void Stream::start(Acceptor& acceptor) {
  self_ = shared_from_this();
  auto handler = acceptor.accept(std::make_shared<GrpcChannel>(self_));
  const bool refused = handler == nullptr;
  gate_.open(std::move(handler));
  {
    std::lock_guard lock(mutex_);
    started_ = true;
    if (!why_ && !refused) {
      context_->AddInitialMetadata(proto::kGrpcOpenKey, "1");
      StartSendInitialMetadata();
      StartRead(&incoming_);
      return;
    }
  }
  finish({grpc::StatusCode::UNAVAILABLE, "the server refuses"});
}

void Stream::OnReadDone(bool ok) {
  if (!ok) return finish(grpc::Status::OK);  // the client is through, or OnCancel says otherwise
  queue_.begin_burst();
  Status status = proto::deliver(&incoming_, gate_);
  end_burst();
  if (!status.ok()) return abort(std::move(status));
  StartRead(&incoming_);
}

void Stream::OnCancel() {
  {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  finish(grpc::Status::CANCELLED);
}

void Stream::OnWriteDone(bool ok) {
  {
    std::lock_guard lock(mutex_);
    outgoing_.Clear();
    queue_.written();
    writing_ = false;
    if (answer_) return finish_when_written();
  }
  if (ok) pump();  // if not, OnCancel follows
}

void Stream::pump() {
  std::lock_guard lock(mutex_);
  if (answer_ || writing_) return;
  switch (packer_.pack(queue_, &outgoing_)) {
    case proto::GrpcPacker::Next::message:
      writing_ = true;
      return StartWrite(&outgoing_);
    case proto::GrpcPacker::Next::finished:
      why_ = ok_status();
      answer_ = grpc::Status::OK;
      return finish_when_written();
    case proto::GrpcPacker::Next::nothing: return;
  }
}

void Stream::finish(const grpc::Status& answer) {
  queue_.discard();
  std::lock_guard lock(mutex_);
  if (!answer_) answer_ = answer;
  finish_when_written();
}

void Stream::finish_when_written() {
  if (writing_ || std::exchange(finished_, true)) return;
  Finish(*answer_);
}

void Stream::OnDone() {
  Status why;
  {
    std::lock_guard lock(mutex_);
    done_ = true;
    if (why_) {
      why = *why_;
    } else if (cancelled_) {
      why = unavailable("the peer went away");
    }
  }
  lease_.reset();
  gate_.closed(std::move(why));
  self_.reset();
}

// Finishes at once.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

class Service final : public grpc::CallbackGenericService {
 public:
  Service(Acceptor& acceptor, std::shared_ptr<OpenConnections> connections)
      : acceptor_(acceptor), connections_(std::move(connections)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    if (context->method() != proto::kGrpcMethod) {
      return new Refusal({grpc::StatusCode::UNIMPLEMENTED, "unknown method " + context->method()});
    }
    auto lease = connections_->take();
    if (!lease) return new Refusal({grpc::StatusCode::RESOURCE_EXHAUSTED, "the server takes no further connection"});
    const auto stream = std::make_shared<Stream>(context, lease);
    connections_->put(lease, stream);
    stream->start(acceptor_);
    return stream.get();
  }

 private:
  Acceptor& acceptor_;
  const std::shared_ptr<OpenConnections> connections_;
};

class GrpcListener final : public Listener {
 public:
  GrpcListener(Acceptor& acceptor, const ListenOptions& options)
      : connections_(std::make_shared<OpenConnections>(options.max_connections)), service_(acceptor, connections_) {}

  Status start(const std::string& address, const ListenOptions& options);
  Status start_unix(const std::string& path, const ListenOptions& options);

  ~GrpcListener() override {
    if (!server_) return;
    connections_->close(unavailable("the server is shutting down"));
    server_->Shutdown(std::chrono::system_clock::now());  // later, it would wait for connections that say nothing
  }

  std::string url() const override { return url_; }

  // gRPC keeps the socket until its end; calls are refused.
  void stop_accepting() override {
    connections_->stop();
    server_->GetHealthCheckService()->SetServingStatus(false);
  }

 private:
  const std::shared_ptr<OpenConnections> connections_;
  Service service_;
  // The port that was bound; nothing if it could not be.
  std::optional<int> serve(const std::string& address, const ListenOptions& options);

  std::string url_;
  std::unique_ptr<grpc::Server> server_;
};

void set_limits(grpc::ServerBuilder& builder, const ListenOptions& options) {
  const int half_idle_ms = std::max(1, options.idle_timeout_seconds * 1000 / 2);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<std::size_t>(options.max_frame_bytes, INT_MAX)));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error, not half of the clients
  proto::tune_grpc([&](const char* name, int value) { builder.AddChannelArgument(name, value); });
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
  BURN_TRY(const proto::HostPort wanted, proto::parse_host_port(address));
  BURN_TRY(proto::HostPort bound, proto::parse_host_port(probe.address));
  bound.port = wanted.port;  // if that is 0, gRPC picks one
  const auto port = serve(proto::to_string(bound), options);
  if (!port) return unavailable("cannot listen on " + address + ": gRPC could not bind it");
  bound.port = static_cast<std::uint16_t>(*port);
  url_ = "grpc://" + proto::to_string(bound);
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
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  set_limits(builder, options);
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service_);
  server_ = builder.BuildAndStart();
  if (!server_) return std::nullopt;
  return port;
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_grpc(const std::string& address, Acceptor& acceptor, const ListenOptions& options) {
  proto::keep_grpc_running();
  auto listener = std::make_unique<GrpcListener>(acceptor, options);
  BURN_RETURN_IF_ERROR(listener->start(address, options));
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> listen_grpc_unix(const std::string& path, Acceptor& acceptor,
                                                   const ListenOptions& options) {
  proto::keep_grpc_running();
  auto listener = std::make_unique<GrpcListener>(acceptor, options);
  BURN_RETURN_IF_ERROR(listener->start_unix(path, options));
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace burn::server
