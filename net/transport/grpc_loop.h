// Where gRPC's completions are reacted to: a completion queue and the thread that empties it.
//
// Of the interfaces that gRPC publishes (grpcpp/, but not grpcpp/impl; scripts/check-layers holds us to that) this is
// the asynchronous one over byte buffers. docs/adr/029-grpc-by-its-public-interface.md says why, and what newer
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

// What the tag of an operation points to. Lives until it was run.
class GrpcTag {
 public:
  enum class Where { on_loop, anywhere };

  explicit GrpcTag(Where where) : where_(where) {}
  // Must not block. `ok` is the operation's own.
  virtual void run(bool ok) = 0;
  // The threads on which it may be run.
  Where where() const { return where_; }

  // For gRPC. It orders an operation's start before its end; these two say so to the thread sanitizer, which does not
  // see into gRPC.
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

// A tag that is a part of its owner: calls `reaction`, and if that was on the loop, owner.ended(), which may be the
// owner's end. One that may run anywhere is never the end: the thread that started the operation may hold a lock that
// others need to hear of the end.
template <class Owner>
class GrpcOp final : public GrpcTag {
 public:
  GrpcOp(Owner* owner, void (Owner::*reaction)(bool ok), Where where = Where::on_loop)
      : GrpcTag(where), owner_(owner), reaction_(reaction) {}
  void run(bool ok) override {
    if constexpr (requires { owner_->fail(Status{}); }) {  // an owner that ends alone where there is no memory
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
  // Calls `start`. An operation that it starts may end at once, as most writes do. Then its tag is run here, if that
  // may be anywhere: waking the loop's thread for it would take a core away from the thread that has to answer.
  // Requires: a Use, and no lock that a tag wants.
  void start(const std::function<void()>& start);
  // Waits until the loop has no user and all operations have ended. Requires: not from its thread.
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

// While one exists, operations may be started.
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
