#include "net/listen/grpc_stream.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include "net/listen/grpc_caller.h"
#include "net/listen/grpc_health.h"
#include "net/listen/grpc_tls.h"
#include "net/transport/grpc_sender.h"
#include "net/transport/handler_gate.h"
#include "net/transport/stall_watch.h"

namespace burn::net {
namespace {

// One call, from before it comes. Reactions run on the loop's thread; it lives until none is due and its channel is
// gone.
class Stream final : public GrpcSender,
                     public Abortable,
                     public UnauthenticatedCall,
                     public std::enable_shared_from_this<Stream> {
 public:
  Stream(GrpcCalls& calls, std::shared_ptr<GrpcLoop> loop)
      : GrpcSender(*loop),
        calls_(calls),
        loop_(std::move(loop)),
        use_(std::in_place, *loop_),
        call_(std::make_unique<Call>()),
        caller_(calls) {}

  // Requires: once, after the constructor.
  void wait();

  void detach() {
    gate_.shut();
    abort(cancelled("the channel was destroyed"));
  }
  void abort(Status why) override {
    queue_.discard();
    const std::lock_guard lock(lock_);
    if (done_) return;
    if (!why_) why_ = std::move(why);
    if (arrived_) call_->context.TryCancel();  // on_over follows
  }

  // Ends a stream whose client takes nothing: after its end, or while much waits for it.
  void tick() override;
  // A reaction has thrown.
  void fail(Status why) { abort(std::move(why)); }

  const std::string& peer() const override { return caller_.peer(); }
  const proto::PeerSecurity& peer_security() const { return security_; }
  void refuse(const Status& why) override { finish({static_cast<grpc::StatusCode>(why.code()), why.message()}); }

 private:
  friend GrpcOp<Stream>;
  struct Call {
    grpc::GenericServerContext context;
    grpc::GenericServerAsyncReaderWriter stream{&context};
  };

  void on_called(bool ok);
  void on_asked(bool ok);
  void on_opened(bool ok);
  void on_read(bool ok);
  void on_written(bool ok);
  void on_finished(bool ok);
  void on_over(bool ok);
  void ended();

  void start();
  void check_authenticated();
  Status check_first();
  void send_health(ServingStatus status);
  void read_into(GrpcTag& tag);
  void read_on();
  void write_next() override;
  void finish(grpc::Status status);
  void answer(grpc::Status status);  // Requires: the lock, as does
  void finish_when_written();

  GrpcCalls& calls_;
  const std::shared_ptr<GrpcLoop> loop_;
  std::optional<GrpcLoop::Use> use_;  // until done_, as are call_ and self_
  std::unique_ptr<Call> call_;
  GrpcCaller caller_;
  proto::PeerSecurity security_;  // set when the call has come
  HandlerGate gate_;
  std::shared_ptr<Stream> self_;  // gRPC's share
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  GrpcOp<Stream> called_{this, &Stream::on_called};
  GrpcOp<Stream> asked_{this, &Stream::on_asked};
  GrpcOp<Stream> opened_{this, &Stream::on_opened};
  GrpcOp<Stream> read_{this, &Stream::on_read};
  GrpcOp<Stream> written_{this, &Stream::on_written, GrpcTag::Where::anywhere};
  GrpcOp<Stream> finished_{this, &Stream::on_finished};
  GrpcOp<Stream> over_{this, &Stream::on_over};  // due until the call has ended, in whatever way
  std::atomic<int> due_ = 0;                     // of these, but for written_, which finished_ waits for

  // Under the lock:
  bool arrived_ = false;  // there is a call
  bool started_ = false;
  bool pausing_ = false;  // nothing is read while answers wait
  StallWatch stall_;
  bool writing_ = false;                // gRPC has outgoing_
  std::optional<grpc::Status> answer_;  // to finish with; nothing is written any more
  bool cancelled_ = false;              // by the peer or the transport, unless it was us
  std::optional<Status> why_;           // we end it
  bool done_ = false;
};

void Stream::wait() {
  auto* queue = static_cast<grpc::ServerCompletionQueue*>(loop_->queue());
  const std::lock_guard lock(lock_);
  call_->context.AsyncNotifyWhenDone(over_.hand_over());
  ++due_;
  self_ = shared_from_this();
  calls_.parts().service.RequestCall(&call_->context, &call_->stream, queue, queue, called_.hand_over());
}

void Stream::on_called(bool ok) {
  if (!ok) return;  // the server is shut down; on_over is not due
  ++due_;
  {
    const std::lock_guard lock(lock_);
    arrived_ = true;
  }
  calls_.take(loop_);
  if (const auto status = caller_.arrive(call_->context.peer()); !status.ok()) return refuse(status);
  const std::string& method = call_->context.method();
  if (method == kHealthCheck || method == kHealthWatch) {
    caller_.begin_unauthenticated(weak_from_this(), UnauthenticatedCalls::Clock::now() + calls_.parts().end_timeout);
    return read_into(asked_);
  }
  if (method != kGrpcMethod) return finish({grpc::StatusCode::UNIMPLEMENTED, "unknown method " + method});
  if (const auto status = caller_.connect(weak_from_this()); !status.ok()) return refuse(status);
  security_ = peer_security_of(*call_->context.auth_context(), calls_.parts().has_tls);
  start();
}

void Stream::start() {
  // How long the client may wait with its hello is the acceptor's to decide.
  caller_.begin_unauthenticated(weak_from_this(), UnauthenticatedCalls::Clock::time_point::max());
  auto& acceptor = calls_.parts().acceptor;
  auto channel = std::make_shared<GrpcChannel<Stream>>(self_);
  auto handler = caller_.full().ok() ? acceptor.accept(std::move(channel))
                                     : acceptor.accept_returning(std::move(channel), caller_.full());
  bool refused = handler == nullptr;
  gate_.open(std::move(handler));
  {
    const std::lock_guard lock(lock_);
    started_ = true;
    refused = refused || why_ || answer_;
    if (!refused) {
      call_->context.AddInitialMetadata(kGrpcOpenKey, "1");
      ++due_;
      call_->stream.SendInitialMetadata(opened_.hand_over());
    }
  }
  if (refused) return finish({grpc::StatusCode::UNAVAILABLE, "the server refuses"});
  check_authenticated();
  pump();  // what the handler had to say at once
  read_into(read_);
}

void Stream::check_authenticated() {
  if (gate_.max_frame_bytes() >= proto::kMaxFrameBytes) caller_.end_unauthenticated(true);
}

// A frame of an unauthenticated client is not looked at if it is larger than it may be.
Status Stream::check_first() {
  const std::size_t size = incoming_.Length(), limit = gate_.max_frame_bytes();
  if (size <= limit) return {};
  return resource_exhausted("a message of " + std::to_string(size) + " bytes; before the hello is accepted " +
                            std::to_string(limit) + " may be");
}

void Stream::read_into(GrpcTag& tag) {
  const std::lock_guard lock(lock_);
  if (answer_) return;
  ++due_;
  call_->stream.Read(&incoming_, tag.hand_over());
}

void Stream::on_asked(bool ok) {
  caller_.end_unauthenticated(false);
  if (!ok) return finish({grpc::StatusCode::INVALID_ARGUMENT, "a health check without a request"});
  const auto status = health_of(incoming_, !calls_.parts().connections->is_draining());
  const bool is_check = call_->context.method() == kHealthCheck;
  if (is_check && status == ServingStatus::service_unknown)
    return finish({grpc::StatusCode::NOT_FOUND, "unknown service"});
  if (!is_check) {
    if (const auto status = caller_.watch(); !status.ok()) return refuse(status);
  }
  send_health(status);
  if (is_check) finish(grpc::Status::OK);  // a watch goes on until the client or the server has enough of it
}

void Stream::send_health(ServingStatus status) {
  const std::lock_guard lock(lock_);
  if (answer_) return;
  outgoing_ = encode_health(status);
  writing_ = true;
  call_->stream.Write(outgoing_, written_.hand_over());
}

void Stream::on_opened(bool /*ok*/) {}  // if not, on_over follows

void Stream::on_read(bool ok) {
  if (!ok) return finish(grpc::Status::OK);  // the client is through, or on_over says otherwise
  if (caller_.is_unauthenticated()) {
    if (const Status status = check_first(); !status.ok()) return refuse(status);
  }
  queue_.begin_burst();
  Status status = deliver(&incoming_, gate_);
  if (caller_.is_unauthenticated() && status.ok())
    check_authenticated();  // before the welcome goes: what comes after it is not counted
  end_burst();
  if (!status.ok()) return abort(std::move(status));
  read_on();
}

// Reads more, unless the client is to take its answers first; then the write of the last of them reads on.
void Stream::read_on() {
  {
    const std::lock_guard lock(lock_);
    if (answer_ || queue_.is_closed()) return;  // what still comes is not wanted
    pausing_ = queue_.bytes() > kMaxQueuedBytes;
    if (pausing_) return;
  }
  read_into(read_);
}

void Stream::on_written(bool ok) {
  const auto self = shared_from_this();  // the end may come as soon as the lock is released
  {
    const std::lock_guard lock(lock_);
    stall_.took(outgoing_.Length());
    outgoing_.Clear();
    queue_.written();
    writing_ = false;
    if (answer_) return finish_when_written();
    if (pausing_ && ok && queue_.bytes() <= kMaxQueuedBytes / 2) {
      pausing_ = false;
      ++due_;
      call_->stream.Read(&incoming_, read_.hand_over());
    }
  }
  if (ok) pump();  // if not, on_over follows
}

void Stream::tick() {
  const auto now = StallWatch::Clock::now();
  const std::lock_guard lock(lock_);
  if (done_ || why_ || !arrived_) return;
  const bool is_ending = answer_ || queue_.is_closed();
  const auto& parts = calls_.parts();
  const auto timeout = is_ending ? parts.end_timeout : parts.stall_timeout;
  if (!stall_.is_stalled(now, is_ending, is_ending || pausing_, timeout)) return;
  why_ = unavailable(std::string{kDoesNotRead});
  call_->context.TryCancel();  // on_over follows
}

void Stream::write_next() {
  if (!started_ || answer_ || writing_) return;
  switch (packer_.pack(queue_, &outgoing_)) {
    case GrpcPacker::Next::message:
      writing_ = true;
      return call_->stream.Write(outgoing_, written_.hand_over());
    case GrpcPacker::Next::finished:
      why_ = ok_status();
      return answer(grpc::Status::OK);
    case GrpcPacker::Next::nothing:
      return;
  }
}

void Stream::finish(grpc::Status status) {
  queue_.discard();
  const std::lock_guard lock(lock_);
  if (!answer_ && !done_) answer(std::move(status));
}

void Stream::answer(grpc::Status status) {
  answer_ = std::move(status);
  ++due_;
  finish_when_written();
}

void Stream::finish_when_written() {
  if (writing_ || !answer_) return;
  call_->stream.Finish(*answer_, finished_.hand_over());
}

void Stream::on_finished(bool /*ok*/) {}

void Stream::on_over(bool /*ok*/) {
  {
    const std::lock_guard lock(lock_);
    cancelled_ = call_->context.IsCancelled();
  }
  finish(grpc::Status::CANCELLED);  // to no effect but that the end waits for what is being written
}

void Stream::ended() {
  if (--due_ > 0) return;
  std::unique_ptr<Call> call;
  Status why;
  {
    const std::lock_guard lock(lock_);
    done_ = true;
    call = std::move(call_);
    if (why_) {
      why = *why_;
    } else if (cancelled_) {
      why = unavailable("the peer went away");
    } else if (answer_ && !answer_->ok()) {
      why = {static_cast<StatusCode>(answer_->error_code()), answer_->error_message()};
    }
  }
  call.reset();
  caller_.leave();
  gate_.closed(std::move(why));
  use_.reset();
  self_.reset();
}

}  // namespace

void wait_for_call(GrpcCalls& calls, const std::shared_ptr<GrpcLoop>& loop) {
  std::make_shared<Stream>(calls, loop)->wait();
}

}  // namespace burn::net
