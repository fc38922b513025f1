#include "net/listen/grpc_stream.h"

#include <string>
#include <utility>

#include <grpcpp/completion_queue.h>

#include "net/listen/grpc_tls.h"

namespace burn::net {

void GrpcStream::wait() {
  auto* queue = static_cast<grpc::ServerCompletionQueue*>(loop_->queue());
  const std::lock_guard lock(lock_);
  call_->context.AsyncNotifyWhenDone(over_.hand_over());
  ++due_;
  self_ = shared_from_this();
  calls_.parts().service.RequestCall(&call_->context, &call_->stream, queue, queue, called_.hand_over());
}

void GrpcStream::on_called(bool ok) {
  if (!ok) return;  // the server is shut down; on_over is not called
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

void GrpcStream::start() {
  // The acceptor decides how long the client may take to send its hello.
  caller_.begin_unauthenticated(weak_from_this(), UnauthenticatedCalls::Clock::time_point::max());
  auto& acceptor = calls_.parts().acceptor;
  auto channel = std::make_shared<GrpcChannel<GrpcStream>>(self_);
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
  pump();  // writes what the handler sent in accept()
  read_into(read_);
}

void GrpcStream::check_authenticated() {
  if (gate_.max_frame_bytes() >= proto::kMaxFrameBytes) caller_.end_unauthenticated(true);
}

void GrpcStream::on_asked(bool ok) {
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
  if (is_check) finish(grpc::Status::OK);  // a watch stays open until the client or the server ends it
}

void GrpcStream::send_health(ServingStatus status) {
  const std::lock_guard lock(lock_);
  if (answer_) return;
  outgoing_ = encode_health(status);
  writing_ = true;
  call_->stream.Write(outgoing_, written_.hand_over());
}

void GrpcStream::on_opened(bool /*ok*/) {}  // if not ok, on_over is called

void GrpcStream::finish(grpc::Status status) {
  queue_.discard();
  const std::lock_guard lock(lock_);
  if (!answer_ && !done_) answer(std::move(status));
}

void GrpcStream::answer(grpc::Status status) {
  answer_ = std::move(status);
  ++due_;
  finish_when_written();
}

void GrpcStream::finish_when_written() {
  if (writing_ || !answer_) return;
  call_->stream.Finish(*answer_, finished_.hand_over());
}

void GrpcStream::on_finished(bool /*ok*/) {}

void GrpcStream::on_over(bool /*ok*/) {
  {
    const std::lock_guard lock(lock_);
    cancelled_ = call_->context.IsCancelled();
  }
  finish(grpc::Status::CANCELLED);  // has no effect but that the end waits for the current write
}

void GrpcStream::ended() {
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

void wait_for_call(GrpcCalls& calls, const std::shared_ptr<GrpcLoop>& loop) {
  std::make_shared<GrpcStream>(calls, loop)->wait();
}

}  // namespace burn::net
