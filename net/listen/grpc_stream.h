// One call of Connect or of the health service over gRPC, from before it comes to its end. The one header
// with gRPC's own: only net/listen/grpc_*.cc include it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include "net/listen/grpc_caller.h"
#include "net/listen/grpc_calls.h"
#include "net/listen/grpc_health.h"
#include "net/transport/grpc_sender.h"
#include "net/transport/handler_gate.h"
#include "net/transport/stall_watch.h"

namespace burn::net {

// Callbacks run on the loop's thread; it lives until none is due and its channel is gone.
class GrpcStream final : public GrpcSender,
                         public Abortable,
                         public UnauthenticatedCall,
                         public std::enable_shared_from_this<GrpcStream> {
 public:
  GrpcStream(GrpcCalls& calls, std::shared_ptr<GrpcLoop> loop)
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
  friend GrpcOp<GrpcStream>;
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
  std::shared_ptr<GrpcStream> self_;  // gRPC's share
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  GrpcOp<GrpcStream> called_{this, &GrpcStream::on_called};
  GrpcOp<GrpcStream> asked_{this, &GrpcStream::on_asked};
  GrpcOp<GrpcStream> opened_{this, &GrpcStream::on_opened};
  GrpcOp<GrpcStream> read_{this, &GrpcStream::on_read};
  GrpcOp<GrpcStream> written_{this, &GrpcStream::on_written, GrpcTag::Where::anywhere};
  GrpcOp<GrpcStream> finished_{this, &GrpcStream::on_finished};
  GrpcOp<GrpcStream> over_{this, &GrpcStream::on_over};  // due until the call has ended, in whatever way
  std::atomic<int> due_ = 0;                             // of these, but for written_, which finished_ waits for

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

// Waits for a call and serves it. Throws std::bad_alloc and the like where there is no room to wait in.
void wait_for_call(GrpcCalls& calls, const std::shared_ptr<GrpcLoop>& loop);

}  // namespace burn::net
