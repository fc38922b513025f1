// One run of a program: where its values are, which of them failed, and the stages one after the other.
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

// What work that a run leaves behind needs (backends/detached_work.h).
struct RunLife {
  std::shared_ptr<const void> executable;      // its kernels and pool are in use
  std::shared_ptr<AbandonedWork> left_behind;  // of the session; null: nothing is left behind
};

// Where an execution keeps the values that steps give: those that pass between the members of a group are nowhere.
class ValuePlaces {
 public:
  ValuePlaces(const ir::Program& program, const compile::Plan& plan);

  // Requires: a step gives the value.
  std::size_t of(ir::Ref value) const {
    return static_cast<std::size_t>(places_[static_cast<std::size_t>(value.index())]);
  }
  std::size_t count() const { return count_; }
  std::size_t memory_bytes() const { return places_.capacity() * sizeof(std::int32_t); }

 private:
  std::vector<std::int32_t> places_;  // per value
  std::size_t count_ = 0;
};

// Of one thread. Refers to what it is made of.
class Execution {
 public:
  // Requires: arguments that fit the program. Takes their buffers.
  Execution(const ir::Program& program, const compile::Plan& plan, const ValuePlaces& places,
            std::span<const Stage> stages, Pool& pool, RunArgs& args, const RunLife& life);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() { abandon_collectives(cancelled("the run has ended")); }

  // Throws Interrupted, and what the standard library throws for want of memory: then end_early().
  RunResult run();
  // What is left of a run that ended before it was done: guarded outputs as they were before it, or as it made them;
  // all others fail for this reason. The reason itself, of a program that keeps nothing.
  Result<RunResult> end_early(const Status& why);

 private:
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  Array& value(ir::Ref ref) {
    return ref.is_input() ? inputs_[static_cast<std::size_t>(ref.index())] : values_[places_.of(ref)];
  }
  static Failure failure_of(Status status) { return std::make_shared<const Status>(std::move(status)); }
  std::size_t index_of(ir::Ref ref) const;  // in failures_
  Failure failure_among(std::span<const ir::Ref> refs) const;
  void fail(ir::Ref ref, Failure why);
  void keep(ir::Ref ref, Array value) {  // if it is used
    if (plan_.last_use(ref) != compile::Plan::kUnused) values_[places_.of(ref)] = std::move(value);
  }

  std::vector<Array> take_operands(std::size_t position);
  void run_stages(std::size_t position);
  void run_single(std::size_t position);
  Status run_long(const Stage& stage, std::vector<Array> operands, std::span<Array> results);
  void run_groups(std::size_t first, std::size_t count);
  void run_members(std::size_t position, std::vector<Array> reads);
  RunResult outputs();

  // Begins them, or performs them where their results are needed by the next stage.
  void run_collectives(std::size_t position);
  void finish_collectives(std::size_t position, CollectiveWork& work);
  void finish_collectives_before(std::size_t position);  // what a stage before that position needs
  void abandon_collectives(const Status& why);           // that are under way: their groups end

  // Commits (ir/ops/commit.h).
  void run_commit(std::size_t position);
  Failure failure_before(std::int32_t commit) const;  // of what it covers, if there is one
  bool is_refused(ir::Ref ref) const {
    return !refused_.empty() && !ref.is_input() && refused_[static_cast<std::size_t>(ref.index())];
  }
  bool is_refused_among(std::span<const ir::Ref> refs) const;
  // What a node gives because of a Commit that came out false, whatever its other operands are: false of a conjunction,
  // the old value of a select. Nothing: it is computed as ever.
  struct Substitute {
    Array value;
    Failure failure;  // of the old value
  };
  std::optional<Substitute> stand_in(const ir::Node& node, const std::function<Array(ir::Ref)>& operand);

  const ir::Program& program_;
  const compile::Plan& plan_;
  const ValuePlaces& places_;
  const std::span<const Stage> stages_;
  Run run_;
  const RunLife& life_;
  std::vector<Array> inputs_, values_;  // values_: by their places
  std::vector<Failure> failures_;       // of the inputs, then the values; empty as long as all is well
  std::vector<bool> refused_;  // per value: false because of a Commit; empty as long as none has come out false
  Failure why_refused_;        // the first of them
  PoolReservation reserved_;   // for the stages that a Commit guards, until the first of them runs
  Interrupt last_interrupt_;   // of the protected stages

  struct PendingCollective {
    std::size_t position = 0;
    std::shared_ptr<CollectiveWork> work;
    std::uint64_t number = 0;  // of the group's thread
  };
  std::deque<PendingCollective> pending_collectives_;
};

}  // namespace burn::backends::cpu
