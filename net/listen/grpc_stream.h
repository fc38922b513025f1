// One call of Connect or of the health service over gRPC, from waiting for it to its end. The only header with gRPC's
// own types: only net/listen/grpc_*.cc include it.
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

// Callbacks run on the loop's thread. The object lives until no callback is due and its channel is gone.
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

  // Waits for a call. Requires: called once, after the constructor.
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
    if (arrived_) call_->context.TryCancel();  // on_over is called then
  }

  // Ends a stream whose client does not read: its end, or while many bytes wait for it.
  void tick() override;
  // Called when a callback has thrown.
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
  void answer(grpc::Status status);  // Requires: the lock.
  void finish_when_written();        // Requires: the lock.

  GrpcCalls& calls_;
  const std::shared_ptr<GrpcLoop> loop_;
  std::optional<GrpcLoop::Use> use_;  // like call_ and self_, held until done_
  std::unique_ptr<Call> call_;
  GrpcCaller caller_;
  proto::PeerSecurity security_;  // set when the call has arrived
  HandlerGate gate_;
  std::shared_ptr<GrpcStream> self_;  // keeps this alive while gRPC uses it
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  GrpcOp<GrpcStream> called_{this, &GrpcStream::on_called};
  GrpcOp<GrpcStream> asked_{this, &GrpcStream::on_asked};
  GrpcOp<GrpcStream> opened_{this, &GrpcStream::on_opened};
  GrpcOp<GrpcStream> read_{this, &GrpcStream::on_read};
  GrpcOp<GrpcStream> written_{this, &GrpcStream::on_written, GrpcTag::Where::anywhere};
  GrpcOp<GrpcStream> finished_{this, &GrpcStream::on_finished};
  GrpcOp<GrpcStream> over_{this, &GrpcStream::on_over};  // completes when the call has ended, in any way
  std::atomic<int> due_ = 0;                             // pending ones, without written_, for which finished_ waits

  // Under the lock:
  bool arrived_ = false;  // a call has arrived
  bool started_ = false;
  bool pausing_ = false;  // reading is paused while answers wait
  StallWatch stall_;
  bool writing_ = false;                // gRPC is writing outgoing_
  std::optional<grpc::Status> answer_;  // the final status; nothing is written any more
  bool cancelled_ = false;              // by the peer or the transport, unless why_ is set
  std::optional<Status> why_;           // why this end aborted the call
  bool done_ = false;
};

// Waits for a call and serves it. Throws std::bad_alloc and the like if there is no memory to wait.
void wait_for_call(GrpcCalls& calls, const std::shared_ptr<GrpcLoop>& loop);

}  // namespace burn::net
