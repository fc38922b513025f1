// One member's end of a group whose collectives are NCCL's.
//
// NCCL does not tell a member about the others: if one of them fails or is gone, kernels of the others wait forever. So
// the members keep the direct links by which the group was formed (backends/collective). Over these they agree on
// NCCL's id and on the moment when all are connected; later a thread of each member performs a small collective over
// them some ten times a second, and so learns at once of a member that ends the group or vanishes. It then aborts the
// communicator, which ends every kernel that waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "backends/collective/collective.h"
#include "backends/cuda/libraries/nccl.h"

namespace burn::backends::cuda {

class NcclGroup final : public Collective {
 public:
  // Takes ownership of `links`. Waits until all members have called it, and their GPUs are connected. `make_current`:
  // makes the device current on the calling thread; called on several.
  // Errors: DEADLINE_EXCEEDED; UNIMPLEMENTED on every member if one has no NCCL (`library`); what NCCL says; why the
  // links ended meanwhile. The links are aborted then, so the other members fail, too.
  static Result<std::shared_ptr<NcclGroup>> join(const Result<const Nccl*>& library, std::shared_ptr<Collective> links,
                                                 const std::function<void()>& make_current,
                                                 std::chrono::milliseconds deadline);
  ~NcclGroup() override;

  int rank() const override;
  int size() const override;
  // UNIMPLEMENTED: a run on a GPU has no numbers in host memory.
  Status perform(const CollectiveCall& call) override;
  void abort(const Status& why) override;
  // Runs that were begun may still finish within half a second.
  void leave(const Status& why) override;
  Status health() const override;  // why no run may begin any more

  // Must be called before a run with collectives of the group is enqueued. `limit`: how long the device may take
  // without finishing a run until the group ends with DEADLINE_EXCEEDED; 0: forever. Errors: health()'s.
  Status begin_run(std::chrono::milliseconds limit);
  // Must be called when the device has done a run, or if the run was not enqueued. Errors: why its results are invalid:
  // the communicator was aborted before this call.
  Status end_run();

  // Makes NCCL enqueue a call, and waits until it has, which takes until the other members do so, too, if they are not
  // connected for it yet. Between begin_run() and end_run(), from one thread at a time.
  using Call = std::function<NcclResult(const Nccl& library, NcclComm comm)>;
  Status enqueue(const char* what, const Call& call);

 private:
  class State;
  explicit NcclGroup(std::shared_ptr<State> state) : state_(std::move(state)) {}

  const std::shared_ptr<State> state_;  // shared with the thread
};

// The groups of a run, by their numbers in programs.
using RunGroups = std::map<std::int64_t, std::shared_ptr<NcclGroup>>;

// Sets the groups of the run whose commands this thread enqueues, during its lifetime.
class RunGroupsScope {
 public:
  explicit RunGroupsScope(const RunGroups* groups) : outer_(std::exchange(current_, groups)) {}
  ~RunGroupsScope() { current_ = outer_; }
  RunGroupsScope(const RunGroupsScope&) = delete;
  RunGroupsScope& operator=(const RunGroupsScope&) = delete;

  static const RunGroups* current() { return current_; }

 private:
  static inline constinit thread_local const RunGroups* current_ = nullptr;
  const RunGroups* const outer_;
};

}  // namespace burn::backends::cuda
