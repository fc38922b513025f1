#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "client/transport/transports.h"
#include "proto/transport/grpc_bytes.h"
#include "proto/transport/handler_gate.h"
#include "proto/transport/io_threads.h"
#include "proto/transport/send_queue.h"

namespace burn::client {
namespace {

constexpr int kKeepaliveMilliseconds = 15'000;  // ping after so much silence, give up after as much again

// gRPC's story ends with the system's word: "...; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host:
// Connection refused".
Status describe(const grpc::Status& status) {
  std::string text = status.error_message();
  constexpr std::string_view kCause = "Failed to connect to remote host: ";
  if (const auto at = text.rfind(kCause); at != std::string::npos) text.erase(0, at + kCause.size());
  return {static_cast<StatusCode>(status.error_code()), std::move(text)};
}

std::shared_ptr<grpc::Channel> make_grpc_channel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(proto::kMaxFrameBytes));
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own: sessions do not share a window
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // like the other transports
  proto::tune_grpc([&](const char* name, int value) { arguments.SetInt(name, value); });
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Where calls are buried. The last gRPC channel of a process joins gRPC's callback threads, so it must not go on one of them.
proto::IoThreads& graveyard() {
  static auto& thread = *new proto::IoThreads(1);  // there to the end
  return thread;
}

// One call of Connect. gRPC runs its reactions on several threads; it is done with this object when OnDone is called.
class Stream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                     public std::enable_shared_from_this<Stream> {
 public:
  Stream(const std::string& address, std::shared_ptr<proto::ChannelHandler> handler)
      : peer_(address), handler_(std::move(handler)), channel_(make_grpc_channel(address)), stub_(channel_) {}

  // Ready when the server has taken the call, or with why not.
  std::future<Status> start();

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
    queue_.discard();
    context_.TryCancel();
  }

  std::size_t queued_bytes() const { return queue_.bytes(); }
  const std::string& peer() const { return peer_; }

 private:
  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  void pump();
  void end_writing();
  void fail(const Status& why);

  const std::string peer_;
  std::shared_ptr<proto::ChannelHandler> handler_;  // until the call is open
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  proto::SendQueue queue_;
  proto::GrpcPacker packer_;
  proto::HandlerGate gate_;
  std::shared_ptr<Stream> self_;  // gRPC's share, until OnDone
  std::optional<std::promise<Status>> opened_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  std::optional<Status> broken_;  // the peer broke the transport's rules; set before the call is cancelled

  std::mutex mutex_;      // over what follows, and over starting writes
  bool writable_ = true;  // while so, gRPC is told to hold OnDone back
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

std::future<Status> Stream::start() {
  self_ = shared_from_this();
  auto opened = opened_.emplace().get_future();
  stub_.PrepareBidiStreamingCall(&context_, proto::kGrpcMethod, {}, this);
  AddHold();
  StartCall();
  return opened;
}

void Stream::OnReadInitialMetadataDone(bool ok) {
  // A call that is refused at once brings metadata too: those of its end.
  if (!ok || !context_.GetServerInitialMetadata().contains(proto::kGrpcOpenKey)) return end_writing();
  gate_.open(std::exchange(handler_, nullptr));
  std::exchange(opened_, std::nullopt)->set_value(ok_status());
  StartRead(&incoming_);
}

void Stream::OnReadDone(bool ok) {
  if (!ok) return end_writing();
  queue_.begin_burst();
  const Status status = proto::deliver(&incoming_, gate_);
  end_burst();
  if (!status.ok()) return fail(status);
  StartRead(&incoming_);
}

void Stream::OnWriteDone(bool ok) {
  outgoing_.Clear();
  queue_.written();
  if (ok) pump();  // if not, OnReadDone says so too
}

void Stream::pump() {
  std::lock_guard lock(mutex_);
  if (!writable_) return;
  switch (packer_.pack(queue_, &outgoing_)) {
    case proto::GrpcPacker::Next::message: return StartWrite(&outgoing_);
    case proto::GrpcPacker::Next::finished: return StartWritesDone();
    case proto::GrpcPacker::Next::nothing: return;
  }
}

void Stream::end_writing() {
  queue_.discard();
  std::lock_guard lock(mutex_);
  if (std::exchange(writable_, false)) RemoveHold();
}

void Stream::fail(const Status& why) {
  broken_ = why;
  context_.TryCancel();
  end_writing();
}

void Stream::OnDone(const grpc::Status& status) {
  Status why = broken_.value_or(describe(status));
  if (opened_) opened_->set_value(why.ok() ? unavailable("the server closed the call") : why);
  gate_.closed(std::move(why));
  graveyard().post([self = std::move(self_)] {});
}

}  // namespace

Result<std::shared_ptr<proto::Channel>> connect_grpc(const std::string& address,
                                                     std::shared_ptr<proto::ChannelHandler> handler, Deadline deadline) {
  proto::keep_grpc_running();
  const auto stream = std::make_shared<Stream>(address, std::move(handler));
  std::future<Status> opened = stream->start();
  std::shared_ptr<proto::Channel> channel = std::make_shared<GrpcChannel>(stream);
  if (opened.wait_until(deadline) != std::future_status::ready) return unavailable(proto::errno_text(ETIMEDOUT));
  if (Status status = opened.get(); !status.ok()) return status;
  return channel;
}

}  // namespace burn::client
