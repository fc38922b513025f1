#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "net/dial/grpc_tls.h"
#include "net/dial/transports.h"
#include "net/tls/certificate.h"
#include "net/transport/grpc_sender.h"
#include "net/transport/handler_gate.h"

namespace burn::net {
namespace {

constexpr int kKeepaliveMilliseconds = 15'000;  // silence until a ping, and then until giving up

// Reduces gRPC's message to the system's error, with which it ends: "...; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed
// to connect to remote host: Connection refused".
Status describe(const grpc::Status& status) {
  std::string text = status.error_message();
  constexpr std::string_view kCause = "Failed to connect to remote host: ";
  if (const auto at = text.rfind(kCause); at != std::string::npos) text.erase(0, at + kCause.size());
  return {static_cast<StatusCode>(status.error_code()), std::move(text)};
}

std::shared_ptr<grpc::Channel> make_grpc_channel(const std::string& address, const GrpcTls& tls) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(proto::kMaxFrameBytes));
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection each: sessions share no window
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // as for the other transports
  tune_grpc([&](const char* name, int value) { arguments.SetInt(name, value); });
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (tls.identity && !tls::is_address(tls.host)) arguments.SetSslTargetNameOverride(tls.host);  // `address` is numeric
  return grpc::CreateCustomChannel(address, grpc_channel_credentials(tls), arguments);
}

// The loop with the fewest users. Loops are shared by all calls of the process and never destroyed. A session has a
// loop to itself while there are few; otherwise its runs would wait behind the megabytes of others, which gRPC moves
// without a pause.
std::shared_ptr<GrpcLoop> next_loop() {
  constexpr std::size_t kMax = 4;
  static auto& mutex = *new std::mutex;
  static auto& loops = *new std::vector<std::shared_ptr<GrpcLoop>>;
  const auto users = [](const auto& loop) { return loop.use_count(); };
  const std::lock_guard lock{mutex};
  auto least = std::ranges::min_element(loops, {}, users);
  if (loops.empty() || (users(*least) > 1 && loops.size() < kMax)) {
    try {
      loops.push_back(std::make_shared<GrpcLoop>(std::make_unique<grpc::CompletionQueue>()));
      return loops.back();
    } catch (const std::system_error&) {  // the system has no more threads
      if (loops.empty()) throw;
    }
    least = std::ranges::min_element(loops, {}, users);
  }
  return *least;
}

// One call of Connect. Callbacks run on the loop's thread. It lives until no callback is due and its channel is gone.
class Stream final : public GrpcSender, public std::enable_shared_from_this<Stream> {
 public:
  Stream(const std::string& address, const GrpcTls& tls, std::shared_ptr<proto::ChannelHandler> handler,
         std::shared_ptr<GrpcLoop> loop)
      : GrpcSender(*loop),
        loop_(std::move(loop)),
        peer_(address),
        handler_(std::move(handler)),
        channel_(make_grpc_channel(address, tls)),
        is_encrypted_(tls.identity != nullptr),
        stub_(channel_) {}

  // The future is ready when the server has accepted the call, or with the reason why not.
  std::future<Status> start();

  void detach() {
    gate_.shut();
    queue_.discard();
    context_.TryCancel();
  }

  const std::string& peer() const { return peer_; }
  proto::PeerSecurity peer_security() const { return {.is_encrypted = is_encrypted_, .names = {}}; }

 private:
  friend GrpcOp<Stream>;

  void on_started(bool ok);
  void on_headers(bool ok);
  void on_read(bool ok);
  void on_written(bool ok);
  void on_finished(bool ok);
  void ended();

  void read();
  void write_next() override;
  void finish();
  void finish_when_written();  // Requires: the lock.
  void fail(const Status& why);

  const std::shared_ptr<GrpcLoop> loop_;
  const std::string peer_;
  std::shared_ptr<proto::ChannelHandler> handler_;  // until the call is open
  std::shared_ptr<grpc::Channel> channel_;
  const bool is_encrypted_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  HandlerGate gate_;
  std::shared_ptr<Stream> self_;  // keeps this alive until no callback is due
  std::promise<Status> opened_;
  bool is_opened_set_ = false;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  grpc::Status status_;           // the call's, once it has finished
  std::optional<Status> broken_;  // the peer broke the transport's rules; set before the call is cancelled

  GrpcOp<Stream> started_{this, &Stream::on_started};
  GrpcOp<Stream> headers_{this, &Stream::on_headers};
  GrpcOp<Stream> read_{this, &Stream::on_read};
  GrpcOp<Stream> written_{this, &Stream::on_written, GrpcTag::Where::anywhere};
  GrpcOp<Stream> finished_{this, &Stream::on_finished};
  std::atomic<int> due_ = 0;  // pending operations, without written_, for which finished_ waits

  // Under the lock:
  bool writing_ = true;  // gRPC is writing outgoing_, or the call has not started
  bool closed_ = false;  // this end sends nothing more
  bool ending_ = false;  // nor does the server
};

std::future<Status> Stream::start() {
  self_ = shared_from_this();
  auto opened = opened_.get_future();
  call_ = stub_.PrepareCall(&context_, kGrpcMethod, loop_->queue());
  due_ = 2;
  // The greeting does not wait for the server's headers: it is written once the call has started, which may be before
  // they arrive.
  if (auto greeting = handler_->greeting()) queue_.push(*std::move(greeting), proto::Lane::control);
  const std::lock_guard lock(lock_);
  call_->StartCall(started_.hand_over());
  call_->ReadInitialMetadata(headers_.hand_over());
  return opened;
}

void Stream::on_started(bool /*ok*/) {
  {
    const std::lock_guard lock(lock_);
    writing_ = false;
    if (ending_) return finish_when_written();
  }
  pump();
}

void Stream::on_headers(bool ok) {
  {
    const std::lock_guard lock(lock_);
    // Metadata also arrives for a call that is refused at once: that of its end.
    ok = ok && context_.GetServerInitialMetadata().contains(kGrpcOpenKey);
  }
  if (!ok) return finish();
  gate_.open(std::exchange(handler_, nullptr));
  is_opened_set_ = true;
  opened_.set_value(ok_status());
  read();
}

void Stream::read() {
  const std::lock_guard lock(lock_);
  ++due_;
  call_->Read(&incoming_, read_.hand_over());
}

void Stream::on_read(bool ok) {
  if (!ok) return finish();
  queue_.begin_burst();
  const Status status = deliver(&incoming_, gate_);
  end_burst();
  if (!status.ok()) return fail(status);
  read();
}

void Stream::on_written(bool ok) {
  const auto self = shared_from_this();  // the call may end as soon as the lock is released
  {
    const std::lock_guard lock(lock_);
    outgoing_.Clear();
    queue_.written();
    writing_ = false;
    if (ending_) return finish_when_written();
  }
  if (ok) pump();  // if not ok, on_read fails, too
}

void Stream::write_next() {
  if (closed_ || ending_ || writing_) return;
  switch (packer_.pack(queue_, &outgoing_)) {
    case GrpcPacker::Next::message:
      writing_ = true;
      return call_->Write(outgoing_, written_.hand_over());
    case GrpcPacker::Next::finished:
      closed_ = writing_ = true;
      return call_->WritesDone(written_.hand_over());
    case GrpcPacker::Next::nothing:
      return;
  }
}

void Stream::finish() {
  queue_.discard();
  const std::lock_guard lock(lock_);
  ending_ = true;
  ++due_;
  finish_when_written();
}

void Stream::finish_when_written() {
  if (writing_) return;
  call_->Finish(&status_, finished_.hand_over());
}

void Stream::fail(const Status& why) {
  broken_ = why;
  context_.TryCancel();
  finish();
}

void Stream::on_finished(bool /*ok*/) {}

void Stream::ended() {
  if (--due_ > 0) return;
  Status why = broken_.value_or(describe(status_));
  if (!is_opened_set_) opened_.set_value(why.ok() ? unavailable("the server closed the call") : why);
  gate_.closed(std::move(why));
  self_.reset();
}

Result<std::shared_ptr<proto::Channel>> try_to_connect(const std::string& address, const GrpcTls& tls,
                                                       std::shared_ptr<proto::ChannelHandler> handler,
                                                       Deadline deadline) {
  const auto stream = std::make_shared<Stream>(address, tls, std::move(handler), next_loop());
  std::future<Status> opened = stream->start();
  std::shared_ptr<proto::Channel> channel = std::make_shared<GrpcChannel<Stream>>(stream);
  if (opened.wait_until(deadline) != std::future_status::ready) return unavailable(errno_text(ETIMEDOUT));
  if (Status status = opened.get(); !status.ok()) return status;
  return channel;
}

}  // namespace

// gRPC 1.51 reads errno some calls after connect(), and sometimes takes a connection in progress for one that failed,
// with an error that TCP connections do not have, such as a missing file. Such a failure is retried.
Result<std::shared_ptr<proto::Channel>> connect_grpc(const std::string& address, const GrpcTls& tls,
                                                     std::shared_ptr<proto::ChannelHandler> handler,
                                                     Deadline deadline) {
  BURN_RETURN_IF_ERROR(keep_grpc_running());
  auto channel = try_to_connect(address, tls, handler, deadline);
  const bool is_odd =
      !channel.ok() && !address.starts_with("unix:") && channel.status().message().ends_with(errno_text(ENOENT));
  return is_odd ? try_to_connect(address, tls, std::move(handler), deadline) : std::move(channel);
}

}  // namespace burn::net
