#include "session/programs.h"

#include <fmt/format.h>

namespace burn::session {
namespace {

Status too_many(std::uint64_t limit, std::string_view what) {
  return resource_exhausted(fmt::format("a session may not hold more than {} {}", limit, what));
}

std::string here(proto::ProgramId id) { return fmt::format("program {}", id); }

}  // namespace

Status SessionPrograms::define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                               std::span<const proto::ProgramId> forgotten) {
  if (!program) return define_invalid(id, 0, invalid_argument("there is no program"), forgotten);
  forget(forgotten);
  forget({&id, 1});
  const auto entries = ir::num_entries(*program);
  if (auto refused = check_quotas(entries); !refused.ok()) {
    return keep_invalid(id, program->outputs.size(), refused.with_context(here(id)));
  }
  auto plan = worker_->compile(program);
  // For want of memory alone a program is not wrong: its runs try again.
  if (!plan.ok() && plan.status().code() != StatusCode::resource_exhausted) {
    return keep_invalid(id, program->outputs.size(), plan.status().with_context(here(id)));
  }
  entries_ += entries;
  const auto status = plan.status().ok() ? Status{} : plan.status().with_context(here(id));
  const auto outputs = program->outputs.size();
  programs_.insert_or_assign(id, SessionProgram{std::move(program), {}, outputs, plan.ok() ? *plan : nullptr});
  return status;
}

Status SessionPrograms::define_invalid(proto::ProgramId id, std::size_t output_count, const Status& why,
                                       std::span<const proto::ProgramId> forgotten) {
  forget(forgotten);
  forget({&id, 1});
  return keep_invalid(id, output_count, why.with_context(here(id)));
}

// As many invalid ones are kept as others may be: whoever makes more of them learns it from the sync only.
Status SessionPrograms::keep_invalid(proto::ProgramId id, std::size_t output_count, Status why) {
  if (programs_.size() / 2 < quotas_.programs)
    programs_.insert_or_assign(id, SessionProgram{nullptr, why, output_count, {}});
  return why;
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

Result<PlanPtr> SessionPrograms::plan_of(SessionProgram& program) {
  BURN_RETURN_IF_ERROR(program.invalid);
  if (auto plan = program.plan.lock()) return plan;
  BURN_TRY(auto plan, worker_->compile(program.ir));
  program.plan = plan;
  return plan;
}

void SessionPrograms::clear() {
  programs_.clear();
  entries_ = 0;
}

}  // namespace burn::session
