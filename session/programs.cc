#include "session/programs.h"

#include <fmt/format.h>

#include "ir/work.h"

namespace burn::session {
namespace {

Status too_many(std::uint64_t limit, std::string_view what) {
  return resource_exhausted(fmt::format("a session may not hold more than {} {}", limit, what));
}

std::string here(proto::ProgramId id) { return fmt::format("program {}", id); }

}  // namespace

Status SessionPrograms::define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                               std::span<const proto::ProgramId> forgotten, std::optional<PreparedProgram> ahead) {
  if (!program) return define_invalid(id, 0, invalid_argument("there is no program"), forgotten);
  forget(forgotten);
  forget({&id, 1});
  if (ahead) return keep(id, std::move(program), std::move(ahead->share), session::plan_of(std::move(ahead->plan)));
  auto share = charge({program->inputs.size(), program->nodes.size(), program->outputs.size(), 0});
  if (!share.ok()) return keep_invalid(id, program->outputs.size(), share.status().with_context(here(id)));
  return keep(id, std::move(program), *std::move(share));
}

Status SessionPrograms::define_encoded(proto::ProgramId id, const SharedBytes& encoded,
                                       std::span<const proto::ProgramId> forgotten,
                                       std::optional<PreparedProgram> ahead) {
  forget(forgotten);
  forget({&id, 1});
  if (ahead)
    return keep(id, std::move(ahead->program), std::move(ahead->share), session::plan_of(std::move(ahead->plan)));
  Budget::HostShare share;
  const auto admit = [&](const proto::ProgramSize& size) -> Status {
    BURN_RETURN_IF_ERROR(check_quotas(size.nodes + size.inputs));  // keep() also counts operands
    BURN_TRY(share, charge(size));
    return {};
  };
  auto read = proto::read_program(encoded, admit);
  if (!read.program) return keep_invalid(id, read.output_count, read.invalid.with_context(here(id)));
  return keep(id, std::move(read.program), std::move(share));
}

Status SessionPrograms::define_invalid(proto::ProgramId id, std::size_t output_count, const Status& why,
                                       std::span<const proto::ProgramId> forgotten) {
  forget(forgotten);
  forget({&id, 1});
  return keep_invalid(id, output_count, why.with_context(here(id)));
}

// --- ahead of their turn ---------------------------------------------------------------------------------------------

std::optional<PreparedProgram> SessionPrograms::prepare(const std::shared_ptr<const ir::Program>& program) const {
  auto share = charge({program->inputs.size(), program->nodes.size(), program->outputs.size(), 0});
  if (!share.ok() || ir::num_entries(*program) > quotas_.program_entries || !check_work(*program).ok()) return {};
  auto plan = worker_->compile(program);
  if (!plan.ok()) return {};
  return PreparedProgram{program, *std::move(share), *std::move(plan)};
}

std::optional<PreparedProgram> SessionPrograms::prepare(const SharedBytes& encoded) const {
  Budget::HostShare share;
  const auto admit = [&](const proto::ProgramSize& size) -> Status {
    if (size.nodes + size.inputs > quotas_.program_entries)
      return too_many(quotas_.program_entries, "nodes and inputs");
    BURN_TRY(share, charge(size));
    return {};
  };
  const auto read = proto::read_program(encoded, admit);
  if (!read.program || ir::num_entries(*read.program) > quotas_.program_entries || !check_work(*read.program).ok())
    return {};
  auto plan = worker_->compile(read.program);
  if (!plan.ok()) return {};
  return PreparedProgram{read.program, std::move(share), *std::move(plan)};
}

// --- in their turn ---------------------------------------------------------------------------------------------------

Status SessionPrograms::check_work(const ir::Program& program) const {
  const auto work = ir::estimated_work(program);
  if (work <= quotas_.program_work) return {};
  return resource_exhausted(
      fmt::format("a run would compute about {:.2g} numbers, at most {:.2g} may be", work, quotas_.program_work));
}

Status SessionPrograms::keep(proto::ProgramId id, std::shared_ptr<const ir::Program> program, Budget::HostShare share,
                             PlanPtr ready) {
  const auto entries = ir::num_entries(*program);
  const auto refuse = [&](const Status& why) {
    return keep_invalid(id, program->outputs.size(), why.with_context(here(id)), compile::kept_outputs(*program));
  };
  if (auto refused = check_quotas(entries); !refused.ok()) return refuse(refused);
  if (!ready) {
    if (auto refused = check_work(*program); !refused.ok()) return refuse(refused);
  }
  auto plan = ready ? Result<PlanPtr>(std::move(ready)) : worker_->compile(program);
  // A program is not invalid for lack of memory: its runs compile it again.
  if (!plan.ok() && plan.status().code() != StatusCode::resource_exhausted) return refuse(plan.status());
  worker_->count_program(!plan.ok() || (*plan)->count_definition());
  entries_ += entries;
  auto status = plan.status().ok() ? Status{} : plan.status().with_context(here(id));
  const auto outputs = program->outputs.size();
  auto kept = compile::kept_outputs(*program);
  programs_.insert_or_assign(
      id,
      SessionProgram{std::move(program), {}, outputs, std::move(share), std::move(kept), plan.ok() ? *plan : nullptr});
  return status;
}

// Keeps invalid programs until there are twice `quotas_.programs` in all; further failures are only reported by the
// next sync.
Status SessionPrograms::keep_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                                     std::vector<compile::KeptOutput> kept) {
  worker_->count_refused_program();
  if (programs_.size() / 2 >= quotas_.programs) return why;
  auto share = budget_.take_host_share(sizeof(SessionProgram) + why.message().size() +
                                       kept.size() * sizeof(compile::KeptOutput));
  if (share.ok()) {
    programs_.insert_or_assign(id, SessionProgram{nullptr, why, output_count, *std::move(share), std::move(kept), {}});
  }
  return why;
}

// Upper estimates: a node of a program takes about 350 bytes with its operands and results, and about 1,250 more in a
// plan with its kernels.
Result<Budget::HostShare> SessionPrograms::charge(const proto::ProgramSize& size) const {
  constexpr std::uint64_t kNodeBytes = 1600, kInputBytes = 256, kOutputBytes = 64;
  return budget_.take_host_share(kNodeBytes * size.nodes + kInputBytes * size.inputs + kOutputBytes * size.outputs +
                                 size.bytes / 2);
}

Status SessionPrograms::check_quotas(std::size_t entries) const {
  if (programs_.size() >= quotas_.programs) return too_many(quotas_.programs, "programs");
  if (entries > quotas_.program_entries - entries_) {
    return too_many(quotas_.program_entries, "nodes, inputs and operands of programs");
  }
  return {};
}

void SessionPrograms::forget(std::span<const proto::ProgramId> ids) {
  for (const auto id : ids) {
    const auto found = programs_.find(id);
    if (found == programs_.end()) continue;
    if (found->second.ir) entries_ -= ir::num_entries(*found->second.ir);
    programs_.erase(found);
  }
}

const SessionProgram* SessionPrograms::find(proto::ProgramId id) const {
  const auto found = programs_.find(id);
  return found == programs_.end() ? nullptr : &found->second;
}

SessionProgram* SessionPrograms::find(proto::ProgramId id) {
  return const_cast<SessionProgram*>(std::as_const(*this).find(id));
}

void SessionPrograms::prepare_plan(SessionProgram& program) const {
  auto& preparers = serving::PreparationThreads::instance();
  if (!preparers.has_threads() || !program.ir || program.ahead.has_preparation() || !program.plan.expired()) return;
  program.ahead = preparers.prepare([worker = worker_, ir = program.ir]() -> std::optional<PreparedProgram> {
    auto plan = worker->compile(ir);
    if (!plan.ok()) return {};
    return PreparedProgram{ir, {}, *std::move(plan)};
  });
}

Result<PlanPtr> SessionPrograms::plan_of(SessionProgram& program) {
  BURN_RETURN_IF_ERROR(program.invalid);
  auto ahead = program.ahead.take();
  if (auto plan = program.plan.lock()) return plan;
  if (ahead && ahead->plan) {
    auto plan = session::plan_of(std::move(ahead->plan));
    program.plan = plan;
    return plan;
  }
  BURN_TRY(auto plan, worker_->compile(program.ir));
  program.plan = plan;
  return plan;
}

void SessionPrograms::clear() {
  programs_.clear();
  entries_ = 0;
}

}  // namespace burn::session
