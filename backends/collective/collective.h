// Groups of sessions whose runs perform collectives together (ir/ops/collectives.h), as backends see them.
//
// Each member has a Collective: its own end of the group. All members perform the same collectives in the same order; a
// member whose operand could not be computed takes part all the same, so that the result fails everywhere and no member
// waits for it. Whatever breaks the group (a member that leaves, collectives that do not match) ends it: pending calls
// fail at once, and so do all later ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/failure.h"
#include "base/status.h"
#include "ir/op.h"

namespace burn::backends {

// One collective as one member performs it.
struct CollectiveCall {
  const ir::Op& op;                    // is_collective(op)
  const ir::TensorType& type;          // of this member's operand
  std::span<const std::byte> operand;  // row-major
  std::span<std::byte> result;         // row-major; for AllReduce it may be the operand
  // Why there is no operand, or no memory for the result: then both are empty, and the member only takes part.
  Failure failed = nullptr;
};

class CollectiveThread;

class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;

  virtual int rank() const = 0;  // of this member: 0 .. size() - 1
  virtual int size() const = 0;

  // Takes part in the group's next collective and waits for the other members. Returns early, and ends the group, if
  // the run that the thread works for is interrupted or exceeds its time (backends/interrupt.h). From one thread at a
  // time. The result has the same bits on every member if the op promises that.
  // Errors: "member 1: gather: index 12 ..." on every member, with the code and the reason of the lowest rank that has
  // no operand; otherwise why the group has ended: UNAVAILABLE for a member that is gone, FAILED_PRECONDITION for
  // members that perform different collectives, CANCELLED, DEADLINE_EXCEEDED, or what abort() was given.
  virtual Status perform(const CollectiveCall& call) = 0;
  // Performs all-reduces of one function and dtype, the same ones in the same order on all members, and returns the
  // status of each. Small ones may share a message. Otherwise the same as perform() for one after the other.
  virtual std::vector<Status> perform_together(std::span<const CollectiveCall> calls) {
    std::vector<Status> done;
    done.reserve(calls.size());
    for (const auto& call : calls) done.push_back(perform(call));
    return done;
  }
  // A thread of this member that performs collectives while other threads compute; null: there is none, and the
  // caller's thread performs them.
  virtual CollectiveThread* thread() { return nullptr; }

  // Ends the group: a waiting perform() fails for this reason at once, as do all later ones. The other members are told
  // the reason, with the rank of this member. From any thread; the first reason is kept.
  virtual void abort(const Status& why) = 0;
  // The same for a member that has done its part: the data that it has sent still arrives, and only members that wait
  // for it learn that it has left.
  virtual void leave(const Status& why) = 0;
  // Why the group has ended; ok: it has not. From any thread.
  virtual Status health() const = 0;
};

// The groups that a session is in, by their numbers in programs. Thread-safe.
class Groups {
 public:
  Groups() = default;
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  virtual ~Groups() = default;
  // Null: the session is in no such group.
  virtual std::shared_ptr<Collective> find(std::int64_t group) const = 0;
};

}  // namespace burn::backends
