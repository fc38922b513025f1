// One run of a program: holds its values and failures, and runs its stages one after the other.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/stage.h"
#include "backends/detached_work.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {

// What work that a run abandons keeps alive (backends/detached_work.h).
struct DetachedWorkContext {
  std::shared_ptr<const void> executable;         // owns its kernels and pool
  std::shared_ptr<AbandonedWork> abandoned_work;  // of the session; null: no work may be abandoned
};

// Positions of the values that steps produce, in an execution's list. Values within a fused group have none.
class ValuePlaces {
 public:
  ValuePlaces(const ir::Program& program, const compile::Plan& plan);

  // Requires: the value is a result of a step.
  std::size_t of(ir::Ref value) const {
    return static_cast<std::size_t>(places_[static_cast<std::size_t>(value.index())]);
  }
  std::size_t count() const { return count_; }
  std::size_t memory_bytes() const { return places_.capacity() * sizeof(std::int32_t); }

 private:
  std::vector<std::int32_t> places_;  // per value
  std::size_t count_ = 0;
};

// Used by one thread. Refers to its constructor's arguments.
class Execution {
 public:
  // Requires: arguments that fit the program. Moves their buffers out.
  Execution(const ir::Program& program, const compile::Plan& plan, const ValuePlaces& places,
            std::span<const Stage> stages, Pool& pool, RunArgs& args, const DetachedWorkContext& detached_context);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() { abandon_collectives(cancelled("the run has ended")); }

  // Throws Interrupted, and what the standard library throws when memory is short: then call end_early().
  RunResult run();
  // The result of a run that ended before it was done: guarded outputs are as they were before it, or as it computed
  // them; all others fail with `why`. Returns `why` itself if the program has no such outputs.
  Result<RunResult> end_early(const Status& why);

 private:
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  Array& value(ir::Ref ref) {
    return ref.is_input() ? inputs_[static_cast<std::size_t>(ref.index())] : values_[places_.of(ref)];
  }
  static Failure failure_of(Status status) { return std::make_shared<const Status>(std::move(status)); }
  std::size_t index_of(ir::Ref ref) const;  // position in failures_
  Failure failure_among(std::span<const ir::Ref> refs) const;
  void fail(ir::Ref ref, Failure why);
  void keep(ir::Ref ref, Array value) {  // if it is read later
    if (plan_.last_use(ref) != compile::Plan::kUnused) values_[places_.of(ref)] = std::move(value);
  }

  std::vector<Array> take_operands(std::size_t position);
  void run_stages(std::size_t position);
  void run_single(std::size_t position);
  Status run_detachable(const Stage& stage, std::vector<Array> operands, std::span<Array> results);
  void run_groups(std::size_t first, std::size_t count);
  void run_members(std::size_t position, std::vector<Array> reads);
  RunResult outputs();

  // Starts them on the group's thread, or performs them here if the next stage needs their results.
  void run_collectives(std::size_t position);
  void finish_collectives(std::size_t position, CollectiveWork& work);
  void finish_collectives_before(std::size_t position);  // those that a stage before that position needs
  void abandon_collectives(const Status& why);           // ends the groups of those in progress

  // Commits (ir/ops/commit.h).
  void run_commit(std::size_t position);
  Failure failure_before(std::int32_t commit) const;  // the first failure among what it covers; null: none
  bool is_refused(ir::Ref ref) const {
    return !refused_.empty() && !ref.is_input() && refused_[static_cast<std::size_t>(ref.index())];
  }
  bool is_refused_among(std::span<const ir::Ref> refs) const;
  // The result of a node because of a Commit that came out false, whatever its other operands are: false for a
  // conjunction, the old value for a select. std::nullopt: the node is computed as usual.
  struct Substitute {
    Array value;
    Failure failure;  // of the old value
  };
  std::optional<Substitute> substitute_for(const ir::Node& node, const std::function<Array(ir::Ref)>& operand);

  const ir::Program& program_;
  const compile::Plan& plan_;
  const ValuePlaces& places_;
  const std::span<const Stage> stages_;
  Run run_;
  const DetachedWorkContext& detached_context_;
  std::vector<Array> inputs_, values_;  // values_: by their positions in places_
  std::vector<Failure> failures_;       // of the inputs, then the values; empty while nothing has failed
  std::vector<bool> refused_;           // per value: false because of a Commit; empty until a Commit comes out false
  Failure why_refused_;                 // the first reason
  PoolReservation reserved_;  // memory for the stages that a Commit guards, released when the first of them runs
  Interrupt last_interrupt_;  // for the protected stages

  struct PendingCollective {
    std::size_t position = 0;
    std::shared_ptr<CollectiveWork> work;
    std::uint64_t number = 0;  // returned by the group's thread
  };
  std::deque<PendingCollective> pending_collectives_;
};

}  // namespace burn::backends::cpu
