// The programs of a session, by the ids that its client chose.
//
// A session keeps the programs; their plans are in the worker's cache, and are compiled again after an eviction. Not
// thread-safe: used by the executor only, except prepare().
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <unordered_map>

#include "compile/plan/guards.h"
#include "proto/codec.h"
#include "serving/budget.h"
#include "serving/preparation.h"
#include "serving/quotas.h"
#include "session/plan_cache.h"
#include "session/worker.h"

namespace burn::session {

using serving::Budget;
using serving::PreparationHolder;
using serving::PreparedProgram;
using serving::Quotas;

struct SessionProgram {
  std::shared_ptr<const ir::Program> ir;  // null: invalid
  Status invalid;                         // why its runs fail
  std::size_t output_count = 0;
  Budget::HostShare share = {};                // for the program and its plan
  std::vector<compile::KeptOutput> kept = {};  // values of guarded outputs if a run fails as a whole, also of an
                                               // invalid program
  std::weak_ptr<Plan> plan = {};
  PreparationHolder ahead = {};                                     // for a plan that was evicted from the cache
  std::chrono::nanoseconds took = std::chrono::nanoseconds::max();  // time of its last successful run
};

class SessionPrograms {
 public:
  // `budget` must outlive it. Programs are charged to it before they are decoded and compiled, with the estimated size
  // of program and plan.
  SessionPrograms(std::shared_ptr<Worker> worker, const Quotas& quotas, Budget& budget)
      : worker_(std::move(worker)), quotas_(quotas), budget_(budget) {}

  // Defines `program` as `id`. Removes the programs `forget` and any earlier program of that id. A program that is
  // refused or does not compile is stored as invalid: its runs fail for that reason. `ahead`: the result of prepare()
  // for the same program.
  Status define_encoded(proto::ProgramId id, const SharedBytes& program, std::span<const proto::ProgramId> forget,
                        std::optional<PreparedProgram> ahead = {});
  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::span<const proto::ProgramId> forget, std::optional<PreparedProgram> ahead = {});
  // From any thread, while this exists. std::nullopt if the program will be refused or there is no memory now.
  std::optional<PreparedProgram> prepare(const std::shared_ptr<const ir::Program>& program) const;
  std::optional<PreparedProgram> prepare(const SharedBytes& encoded) const;
  Status define_invalid(proto::ProgramId id, std::size_t output_count, const Status& why,
                        std::span<const proto::ProgramId> forget);
  SessionProgram* find(proto::ProgramId id);  // null: unknown
  const SessionProgram* find(proto::ProgramId id) const;
  // Call when its plan will be needed soon: a plan that was evicted is compiled again on another thread.
  void prepare_plan(SessionProgram& program) const;
  // Errors: why the program is invalid, or does not compile now.
  Result<PlanPtr> plan_of(SessionProgram& program);
  void clear();

 private:
  void forget(std::span<const proto::ProgramId> ids);
  Status check_quotas(std::size_t entries) const;
  // Charges a program of that size and its plan.
  Result<Budget::HostShare> charge(const proto::ProgramSize& size) const;
  Status keep(proto::ProgramId id, std::shared_ptr<const ir::Program> program, Budget::HostShare share,
              PlanPtr plan = nullptr);
  Status check_work(const ir::Program& program) const;
  Status keep_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                      std::vector<compile::KeptOutput> kept = {});

  const std::shared_ptr<Worker> worker_;
  const Quotas quotas_;
  Budget& budget_;
  std::unordered_map<proto::ProgramId, SessionProgram> programs_;
  std::size_t entries_ = 0;  // ir::num_entries() of all valid programs
};

}  // namespace burn::session
