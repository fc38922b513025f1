// A completion queue of gRPC and the thread that runs the callbacks of its completions.
//
// Of gRPC's published interfaces (grpcpp/, but not grpcpp/impl, which scripts/check-layers enforces) this uses the
// asynchronous one over byte buffers. docs/adr/029-grpc-by-its-public-interface.md has the reasons, and what newer
// versions change.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "base/status.h"

namespace grpc {
class CompletionQueue;
}

namespace burn::net {

// The object behind the tag of an operation. Lives until run() was called.
class GrpcTag {
 public:
  enum class Where { on_loop, anywhere };

  explicit GrpcTag(Where where) : where_(where) {}
  // Must not block. `ok` is the operation's result.
  virtual void run(bool ok) = 0;
  // The threads on which run() may be called.
  Where where() const { return where_; }

  // Convert to and from gRPC's tags. gRPC orders an operation's start before its end; these two show that order to the
  // thread sanitizer, which does not instrument gRPC.
  void* hand_over() {
    handed_over_.store(true, std::memory_order_release);
    return this;
  }
  static GrpcTag& take_back(void* tag) {
    auto* ours = static_cast<GrpcTag*>(tag);
    (void)ours->handed_over_.load(std::memory_order_acquire);
    return *ours;
  }

 protected:
  ~GrpcTag() = default;

 private:
  const Where where_;
  std::atomic<bool> handed_over_ = false;
};

// A tag that is a member of its owner. Calls `reaction` and, if that ran on the loop, owner.ended(), which may destroy
// the owner. A tag that may run anywhere never calls ended(): the thread that started the operation may hold a lock
// that ended() needs.
template <class Owner>
class GrpcOp final : public GrpcTag {
 public:
  GrpcOp(Owner* owner, void (Owner::*reaction)(bool ok), Where where = Where::on_loop)
      : GrpcTag(where), owner_(owner), reaction_(reaction) {}
  void run(bool ok) override {
    if constexpr (requires { owner_->fail(Status{}); }) {  // an exception, for lack of memory, ends only this owner
      try {
        (owner_->*reaction_)(ok);
      } catch (const std::exception& error) {
        owner_->fail(Status{StatusCode::resource_exhausted, error.what()});
      }
    } else {
      (owner_->*reaction_)(ok);
    }
    if (where() == Where::on_loop) owner_->ended();
  }

 private:
  Owner* const owner_;
  void (Owner::*const reaction_)(bool ok);
};

class GrpcLoop {
 public:
  class Use;

  explicit GrpcLoop(std::unique_ptr<grpc::CompletionQueue> queue);
  GrpcLoop(const GrpcLoop&) = delete;
  GrpcLoop& operator=(const GrpcLoop&) = delete;
  ~GrpcLoop();

  grpc::CompletionQueue* queue() const { return queue_.get(); }
  // Calls `start`. An operation that it starts may complete at once, as most writes do. Its tag is then run here, if it
  // may run anywhere: waking the loop's thread for it would take a core from the thread that has to answer.
  // Requires: a Use, and that the caller holds no lock that a tag needs.
  void start(const std::function<void()>& start);
  // Waits until the loop has no user and all operations have ended. Requires: not called on its thread.
  void stop();

 private:
  void run();
  void react_here(void* tag, bool ok);
  void leave();

  const std::unique_ptr<grpc::CompletionQueue> queue_;
  std::atomic<int> uses_ =
      1;  // one until stop(): gRPC aborts the program when an operation starts on a queue that was shut down
  std::thread thread_;
};

// While a Use exists, operations may be started.
class GrpcLoop::Use {
 public:
  explicit Use(GrpcLoop& loop) : loop_(loop) { ++loop_.uses_; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { loop_.leave(); }

 private:
  GrpcLoop& loop_;
};

}  // namespace burn::net
