// Executes runs on a session's tensors.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "backends/detached_work.h"
#include "serving/guarded.h"
#include "session/run_spans.h"
#include "session/state.h"
#include "session/state_errors.h"

namespace burn::session {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kQuick{50};  // about the cost of switching threads and back

}  // namespace

// --- runs ------------------------------------------------------------------------------------------------------------

void SessionState::run(const proto::Run& run, std::chrono::nanoseconds queued) {
  auto* program = programs_.find(run.program);
  if (!program) {
    const auto why = not_found(fmt::format("program {} is not known in this session", run.program));
    end_groups(nullptr, why);
    stream_.note(why);
  } else {
    execute(run, *program, queued);
  }
  for (const auto id : run.release) drop(id);
}

void SessionState::execute(const proto::Run& run, SessionProgram& program, std::chrono::nanoseconds queued) {
  const auto start = Clock::now();
  waited_ = {};
  const auto turns = stream_.waited_for_turns();
  PlanPtr plan;
  const auto collectives = groups_.collective_time();
  const auto status = serving::guarded([&] { return try_run(run, program, start, plan); });
  const auto took = Clock::now() - start;
  const auto in_turn = stream_.waited_for_turns() - turns;  // other sessions compute and count this time
  count_busy(took - waited_ - in_turn);
  worker_->count_run_times(queued + waited_ + in_turn, took - waited_ - in_turn);
  if (auto* spans = worker_->spans()) {
    if (const auto trace = spans->choose(run.trace)) {
      const RunDurations times{.queued = queued,
                               .took = took,
                               .inputs = waited_,
                               .turn = in_turn,
                               .collectives = groups_.collective_time() - collectives};
      spans->add(run_spans(*trace, times, worker_->backend().name(), quotas_.tenant.get(), program.ir.get(), status));
    }
  }
  if (status.ok()) {
    plan->count_run(took);
    program.took = took;
    ran_long_ = program.took > kQuick;
    return;
  }
  count_if_interrupted(status);
  end_groups(&program, status);
  const auto why = stream_.note(status, !program.kept.empty());
  keep_guarded_outputs(run, program);
  fail_outputs(run, program, why);
  // Donated inputs are released even if the run failed.
  const auto given = program.ir ? std::min(run.inputs.size(), program.ir->inputs.size()) : 0;
  for (std::size_t i = 0; i < given; ++i) {
    if (program.ir->inputs[i].donated) drop(run.inputs[i]);
  }
}

void SessionState::count_if_interrupted(const Status& status) {
  if (status.code() == StatusCode::cancelled || status.code() == StatusCode::deadline_exceeded)
    worker_->count_interrupted_run();
}

void SessionState::fail_outputs(const proto::Run& run, const SessionProgram& program, const Failure& why) {
  const auto room = std::numeric_limits<proto::TensorId>::max() - run.first_output;
  if (program.output_count > 0)
    poison(run.first_output, std::min<std::uint64_t>(program.output_count - 1, room) + 1, why);
}

// The inputs of a refused program are not known to be donated: its outputs then share their buffers.
void SessionState::keep_guarded_outputs(const proto::Run& run, const SessionProgram& program) {
  std::unordered_map<proto::TensorId, proto::TensorId> moved;
  for (const auto& [output, input, number, type] : program.kept) {
    if (output > std::numeric_limits<proto::TensorId>::max() - run.first_output) continue;
    const auto id = run.first_output + output;
    if (is_known(id) || !check_room(1).ok()) continue;
    if (number) {
      tensors_.add(id, Tensor{type, {}, *number});
      continue;
    }
    const auto i = static_cast<std::size_t>(input);
    if (i >= run.inputs.size()) continue;
    const auto [at, is_first] = moved.try_emplace(run.inputs[i], run.inputs[i]);
    if (const auto* poisoned = poisoned_.find(at->second)) {
      poison(id, 1, Failure(*poisoned));
      continue;
    }
    const auto found = tensors_.find(at->second);
    if (!tensors_.is_found(found)) continue;
    if (is_first && program.ir && i < program.ir->inputs.size() && program.ir->inputs[i].donated) {
      tensors_.rename(found, at->second = id);
    } else if (const auto* buffer = std::get_if<backends::BufferPtr>(&found->second.content)) {
      tensors_.add(id, Tensor{found->second.type, {}, *buffer});  // already charged to the input
    }
  }
}

bool SessionState::is_quick(const proto::Run& run) const {
  const auto* program = programs_.find(run.program);
  if (!program || program->took > kQuick || program->plan.expired() || run.release.size() > kMaxQuickReleases)
    return false;
  if (program->ir && program->ir->effect_count > 0) return false;  // may wait for other members, for any time
  return !tensors_.awaits_uploads() ||
         std::ranges::none_of(run.inputs, [&](proto::TensorId id) { return is_uploading(id); });
}

bool SessionState::is_quick_read(proto::TensorId id) const {
  const auto* tensor = tensors_.look_up(id);
  if (!tensor) return true;  // answered with an error
  return !TensorTable::is_uploading(*tensor) && tensor->type.num_bytes() <= proto::kInlineBytes;
}

bool SessionState::is_uploading(proto::TensorId id) const {
  const auto* tensor = tensors_.look_up(id);
  return tensor && TensorTable::is_uploading(*tensor);
}

Status SessionState::try_run(const proto::Run& run, SessionProgram& program, Plan::Clock::time_point now,
                             PlanPtr& plan) {
  const auto here = [&](const Status& status) { return status.with_context(fmt::format("program {}", run.program)); };
  BURN_RETURN_IF_ERROR(program.invalid);
  const auto& ir = *program.ir;
  auto found = programs_.plan_of(program);
  if (!found.ok()) return here(found.status());
  plan = *std::move(found);
  if (auto status = check_outputs(run, program.output_count); !status.ok()) return here(status);
  if (auto status = check_inputs(run, ir); !status.ok()) return here(status);
  if (auto status = check_releases(run); !status.ok()) return here(status);
  backends::RunArgs args{.scalars = run.scalars,
                         .seed = run.seed,
                         .random_offset = run.random_offset,
                         .program = run.program,
                         .time_limit = quotas_.run_timeout,
                         .groups = &groups_};
  // On errors up to here, all inputs must still be in the table: they are removed only by consume_donated_inputs().
  if (auto status = bind_inputs(run, args); !status.ok()) return here(status);
  auto copies = copy_shared_inputs(ir, args);
  if (!copies.ok()) return here(copies.status());
  auto memory = take_memory(ir, *copies, *plan->executable());
  if (!memory.ok()) return here(memory.status());
  // If the run is abandoned, its memory stays charged to the session until no work uses it any more.
  struct Charge {
    std::shared_ptr<Budget> budget;  // must outlive the share
    Budget::Share memory;
  };
  const auto charge = std::make_shared<Charge>(budget_, *std::move(memory));
  const backends::KeepAliveScope kept(charge);
  consume_donated_inputs(run, ir, *std::move(copies), args, charge->memory);

  plan->mark_used(now);
  worker_->count_run();
  auto result = stream_.run(plan->executable(), std::move(args), !program.kept.empty());
  if (!result.ok()) return here(result.status());
  if (ir.effect_count > 0) count_collectives(ir);
  if (result->outputs.size() != ir.outputs.size()) return here(internal_error("the backend lost an output"));
  if (!result->stopped.ok()) {
    count_if_interrupted(result->stopped);
    end_groups(&program, result->stopped);
    const auto why = stream_.note(here(result->stopped), true);
    for (std::size_t k = 0; k < ir.outputs.size(); ++k) {
      if (!result->outputs[k]) result->failures[k] = why;
    }
  }
  keep_outputs(run, ir, std::move(charge->memory), *std::move(result));
  return {};
}

void SessionState::count_collectives(const ir::Program& program) {
  for (const auto& node : program.nodes) {
    if (ir::is_collective(node.op))
      worker_->collectives().count(node.op, program.type_of(program.operands_of(node).front()).num_bytes());
  }
}

Result<Budget::Share> SessionState::take_memory(const ir::Program& program, std::span<const backends::BufferPtr> copies,
                                                const backends::Executable& executable) {
  std::uint64_t outputs = 0, donated = 0, copied = 0;
  for (const auto ref : program.outputs) outputs += program.type_of(ref).num_bytes();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!program.inputs[i].donated || !tensors_.is_found(inputs_[i])) continue;
    const auto bytes = inputs_[i]->second.share.bytes();
    donated += bytes;
    if (!copies.empty() && copies[i]) copied += bytes;
  }
  const auto [peak, kept] = executable.run_bytes();
  const auto newly_kept = kept - std::min(kept, kept_.bytes());
  // After the run the outputs exist, and the donated inputs do not.
  const auto bytes = std::max(peak - std::min(peak, kept), outputs - std::min(outputs, donated));
  auto memory = budget_->take(bytes + newly_kept + copied);
  if (!memory.ok()) {
    return memory.status().with_context(
        fmt::format("a run of {} ops takes {} bytes beside its inputs", program.nodes.size(), bytes + kept + copied));
  }
  kept_.join(memory->split(newly_kept));
  return memory;
}

void SessionState::keep_outputs(const proto::Run& run, const ir::Program& program, Budget::Share memory,
                                backends::RunResult result) {
  for (std::size_t k = 0; k < result.outputs.size(); ++k) {
    if (!result.failures.empty() && result.failures[k]) {
      poison(run.first_output + k, 1, result.failures[k]);
    } else {
      const auto& type = program.type_of(program.outputs[k]);
      tensors_.add(run.first_output + k, Tensor{type, memory.split(type.num_bytes()), std::move(result.outputs[k])});
    }
  }
}

Status SessionState::check_outputs(const proto::Run& run, std::size_t count) {
  if (count > std::numeric_limits<proto::TensorId>::max() - run.first_output) {
    return invalid_argument(fmt::format("there are no {} ids from {} on", count, run.first_output));
  }
  BURN_RETURN_IF_ERROR(check_room(count));
  const bool may_be_poisoned = poisoned_.overlaps(run.first_output, count);
  if (!may_be_poisoned && !tensors_.may_contain_from(run.first_output)) return {};
  for (std::size_t k = 0; k < count; ++k) {
    const auto id = run.first_output + k;
    if (tensors_.contains(id) || (may_be_poisoned && poisoned_.find(id))) return in_use(id);
  }
  return {};
}

}  // namespace burn::session
