#include "net/transport/grpc_loop.h"

#include <utility>

#include <grpc/grpc.h>
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/codegen/completion_queue_tag.h>

namespace burn::net {
namespace {

thread_local bool takes_no_shortcut = false;

// Runs a tag on the loop after all.
class Later final : public GrpcTag {
 public:
  Later(grpc::CompletionQueue* queue, GrpcTag* tag, bool ok) : GrpcTag(Where::on_loop), tag_(tag), ok_(ok) {
    alarm_.Set(queue, gpr_inf_past(GPR_CLOCK_MONOTONIC), hand_over());
  }
  void run(bool /*ok*/) override {
    tag_->run(ok_);
    delete this;
  }

 private:
  GrpcTag* const tag_;
  const bool ok_;
  grpc::Alarm alarm_;
};

}  // namespace

GrpcLoop::GrpcLoop(std::unique_ptr<grpc::CompletionQueue> queue)
    : queue_(std::move(queue)), thread_([this] { run(); }) {}

GrpcLoop::~GrpcLoop() { stop(); }

void GrpcLoop::stop() {
  if (!thread_.joinable()) return;
  leave();
  thread_.join();
}

void GrpcLoop::run() {
  takes_no_shortcut = true;
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) GrpcTag::take_back(tag).run(ok);
}

void GrpcLoop::leave() {
  if (--uses_ == 0) queue_->Shutdown();
}

GrpcLoop::Shortcut::Shortcut(GrpcLoop& loop) : queue_(std::exchange(takes_no_shortcut, true) ? nullptr : loop.queue()) {
  if (queue_) grpc_completion_queue_thread_local_cache_init(queue_->cq());
}

GrpcLoop::Shortcut::~Shortcut() {
  if (!queue_) return;
  void* tag = nullptr;
  int success = 0;
  if (grpc_completion_queue_thread_local_cache_flush(queue_->cq(), &tag, &success) != 0) {
    bool ok = success != 0;  // as CompletionQueue::Next does with what it takes from the queue:
    if (static_cast<grpc::internal::CompletionQueueTag*>(tag)->FinalizeResult(&tag, &ok)) {
      GrpcTag& ours = GrpcTag::take_back(tag);
      if (ours.where() == GrpcTag::Where::anywhere) {
        ours.run(ok);
      } else {
        new Later(queue_, &ours, ok);
      }
    }
  }
  takes_no_shortcut = false;
}

}  // namespace burn::net
