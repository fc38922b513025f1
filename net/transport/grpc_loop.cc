#include "net/transport/grpc_loop.h"

#include <exception>

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/time.h>

#include "base/thread.h"
#include "base/time_slice.h"
#include "net/transport/start_openssl.h"

namespace burn::net {
namespace {

// A deadline with which gRPC returns without polling. With an expired deadline gRPC polls the sockets once, and takes
// completions that are meant for the loop: a system call for each operation that does not complete at once, and two
// thread switches for each answer found that way.
struct NoTime {};

}  // namespace
}  // namespace burn::net

// The customization of grpcpp/support/time.h for other types of deadlines. gRPC asks for the time when it is about to
// wait, and not if a completion is ready.
template <>
class grpc::TimePoint<burn::net::NoTime> {
 public:
  explicit TimePoint(burn::net::NoTime /*deadline*/) {}
  gpr_timespec raw_time() const { throw burn::net::NoTime{}; }
};

namespace burn::net {
namespace {

thread_local bool takes_no_shortcut = false;

// Runs a tag on the loop's thread.
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
    : queue_(std::move(queue)), thread_((start_openssl(), start_thread("burn-grpc", [this] { run(); }))) {}

GrpcLoop::~GrpcLoop() { stop(); }

void GrpcLoop::stop() {
  if (!thread_.joinable()) return;
  leave();
  thread_.join();
}

void GrpcLoop::run() {
  takes_no_shortcut = true;
  request_time_slice(TimeSlice::brief);
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) GrpcTag::take_back(tag).run(ok);
}

void GrpcLoop::leave() {
  if (--uses_ == 0) queue_->Shutdown();
}

// gRPC keeps the first completion caused by `start` for the caller of DoThenAsyncNext, and wakes no thread for it.
void GrpcLoop::start(const std::function<void()>& start) {
  if (takes_no_shortcut) return start();
  takes_no_shortcut = true;
  void* tag = nullptr;
  bool ok = false;
  std::exception_ptr failure;
  const auto guarded = [&]() noexcept {  // gRPC does not support exceptions
    try {
      start();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  bool has_ended = false;
  try {
    has_ended = queue_->DoThenAsyncNext(guarded, &tag, &ok, NoTime{}) == grpc::CompletionQueue::GOT_EVENT;
  } catch (const NoTime&) {  // no completion yet: the loop's thread will get it
  }
  if (has_ended) react_here(tag, ok);
  takes_no_shortcut = false;
  if (failure) std::rethrow_exception(failure);
}

void GrpcLoop::react_here(void* tag, bool ok) {
  GrpcTag& ours = GrpcTag::take_back(tag);
  if (ours.where() == GrpcTag::Where::anywhere) {
    ours.run(ok);
  } else {
    new Later(queue_.get(), &ours, ok);
  }
}

}  // namespace burn::net
