// The programs of a session, by the client's names for them.
//
// A session keeps programs; their plans lie in the worker's cache and are compiled again if they have left it. Not
// thread-safe: the executor's, but for prepare().
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <unordered_map>

#include "compile/plan/guards.h"
#include "proto/codec.h"
#include "session/budget.h"
#include "session/local_session.h"
#include "session/plan_cache.h"
#include "session/preparation.h"

namespace burn::session {

struct SessionProgram {
  std::shared_ptr<const ir::Program> ir;  // null: invalid
  Status invalid;                         // why its runs fail
  std::size_t output_count = 0;
  Budget::HostShare share = {};                // of the program and the plan that is made of it
  std::vector<compile::KeptOutput> kept = {};  // what stands in for outputs where a run fails as a whole, also of an
                                               // invalid one
  std::weak_ptr<Plan> plan = {};
  PreparationHolder ahead = {};                                     // of a plan that has left the cache
  std::chrono::nanoseconds took = std::chrono::nanoseconds::max();  // its last run that went well
};

class SessionPrograms {
 public:
  // `budget` outlives it: programs are charged to it before they are read and compiled, by what they and their plans
  // will take.
  SessionPrograms(std::shared_ptr<Worker> worker, const Quotas& quotas, Budget& budget)
      : worker_(std::move(worker)), quotas_(quotas), budget_(budget) {}

  // Makes `program` known as `id`, instead of what was known so; the programs `forget` are not known any more. A
  // program that is refused, or does not compile, is known as invalid: its runs fail for that reason. `ahead`: what
  // prepare() made of the same program.
  Status define_encoded(proto::ProgramId id, const SharedBytes& program, std::span<const proto::ProgramId> forget,
                        std::optional<PreparedProgram> ahead = {});
  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::span<const proto::ProgramId> forget, std::optional<PreparedProgram> ahead = {});
  // From any thread, for as long as this is there. Nothing: the program will be refused, or there is no memory now.
  std::optional<PreparedProgram> prepare(const std::shared_ptr<const ir::Program>& program) const;
  std::optional<PreparedProgram> prepare(const SharedBytes& encoded) const;
  Status define_invalid(proto::ProgramId id, std::size_t output_count, const Status& why,
                        std::span<const proto::ProgramId> forget);
  SessionProgram* find(proto::ProgramId id);  // null: not known
  const SessionProgram* find(proto::ProgramId id) const;
  // Its plan will be asked for soon: where it has left the cache, it is compiled again on another thread.
  void prepare_plan(SessionProgram& program) const;
  // Errors: why the program is invalid, or does not compile now.
  Result<PlanPtr> plan_of(SessionProgram& program);
  void clear();

 private:
  void forget(std::span<const proto::ProgramId> ids);
  Status check_quotas(std::size_t entries) const;
  // Room for a program of that size and its plan.
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
  std::size_t entries_ = 0;  // of all programs that are not invalid
};

}  // namespace burn::session
