// What a run does to a session's tensors.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "session/guarded.h"
#include "session/state.h"
#include "session/state_errors.h"

namespace burn::session {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kQuick{50};  // a change of threads and back costs about as much

}  // namespace

// --- runs ------------------------------------------------------------------------------------------------------------

void SessionState::run(const proto::Run& run) {
  auto* program = programs_.find(run.program);
  if (!program) {
    stream_.note(not_found(fmt::format("program {} is not known in this session", run.program)));
  } else {
    execute(run, *program);
  }
  for (const auto id : run.release) drop(id);
}

void SessionState::execute(const proto::Run& run, SessionProgram& program) {
  const auto start = Clock::now();
  const auto status = guarded([&] { return try_run(run, program, start); });
  if (status.ok()) {
    program.took = Clock::now() - start;
    ran_long_ = program.took > kQuick;
    return;
  }
  if (status.code() == StatusCode::cancelled || status.code() == StatusCode::deadline_exceeded)
    worker_->count_interrupted_run();
  const auto why = stream_.note(status);
  const auto room = std::numeric_limits<proto::TensorId>::max() - run.first_output;
  if (program.output_count > 0)
    poison(run.first_output, std::min<std::uint64_t>(program.output_count - 1, room) + 1, why);
  // Given away is given away, also to a run that failed.
  const auto given = program.ir ? std::min(run.inputs.size(), program.ir->inputs.size()) : 0;
  for (std::size_t i = 0; i < given; ++i) {
    if (program.ir->inputs[i].donated) drop(run.inputs[i]);
  }
}

bool SessionState::is_quick(const proto::Run& run) const {
  const auto* program = programs_.find(run.program);
  if (!program || program->took > kQuick || program->plan.expired() || run.release.size() > kMaxQuickReleases)
    return false;
  if (program->ir && program->ir->effect_count > 0) return false;  // waits for others, however long they take
  return std::ranges::none_of(run.inputs, [&](proto::TensorId id) { return is_awaited(id); });
}

bool SessionState::is_quick_read(proto::TensorId id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return true;  // to be told so
  return !is_awaited(id) && found->second.type.num_bytes() <= proto::kInlineBytes;
}

bool SessionState::is_awaited(proto::TensorId id) const {
  const auto found = tensors_.find(id);
  return found != tensors_.end() && std::holds_alternative<std::shared_ptr<StagedUpload>>(found->second.content);
}

Status SessionState::try_run(const proto::Run& run, SessionProgram& program, Plan::Clock::time_point now) {
  const auto here = [&](const Status& status) { return status.with_context(fmt::format("program {}", run.program)); };
  BURN_RETURN_IF_ERROR(program.invalid);
  const auto& ir = *program.ir;
  const auto plan = programs_.plan_of(program);
  if (!plan.ok()) return here(plan.status());
  if (auto status = check_outputs(run, program.output_count); !status.ok()) return here(status);
  if (auto status = check_inputs(run, ir); !status.ok()) return here(status);
  if (auto status = check_releases(run); !status.ok()) return here(status);
  backends::RunArgs args{.scalars = run.scalars,
                         .seed = run.seed,
                         .random_offset = run.random_offset,
                         .program = run.program,
                         .time_limit = quotas_.run_timeout};
  auto memory = take_memory(run, ir, *(*plan)->executable());
  if (!memory.ok()) return here(memory.status());
  if (auto status = bind_inputs(run, ir, args, *memory); !status.ok()) return here(status);

  (*plan)->mark_used(now);
  auto result = stream_.run((*plan)->executable(), std::move(args));
  worker_->count_run();
  if (!result.ok()) return here(result.status());
  if (result->outputs.size() != ir.outputs.size()) return here(internal_error("the backend lost an output"));
  keep_outputs(run, ir, *std::move(memory), *std::move(result));
  return {};
}

Result<Budget::Share> SessionState::take_memory(const proto::Run& run, const ir::Program& program,
                                                const backends::Executable& executable) {
  std::uint64_t outputs = 0, donated = 0;
  for (const auto ref : program.outputs) outputs += program.type_of(ref).num_bytes();
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (!program.inputs[i].donated) continue;
    const auto found = tensors_.find(run.inputs[i]);
    if (found != tensors_.end()) donated += found->second.share.bytes();
  }
  const auto [peak, kept] = executable.run_bytes();
  const auto newly_kept = kept - std::min(kept, kept_.bytes());
  // In the end the outputs are there, and the donated inputs are not.
  const auto bytes = std::max(peak - std::min(peak, kept), outputs - std::min(outputs, donated));
  auto memory = budget_->take(bytes + newly_kept);
  if (!memory.ok()) {
    return memory.status().with_context(
        fmt::format("a run of {} ops takes {} bytes beside its inputs", program.nodes.size(), bytes + kept));
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
      tensors_.emplace(run.first_output + k,
                       Tensor{type, memory.split(type.num_bytes()), std::move(result.outputs[k])});
    }
  }
}

Status SessionState::check_outputs(const proto::Run& run, std::size_t count) {
  if (count > std::numeric_limits<proto::TensorId>::max() - run.first_output) {
    return invalid_argument(fmt::format("there are no {} ids from {} on", count, run.first_output));
  }
  BURN_RETURN_IF_ERROR(check_room(count));
  const bool may_be_poisoned = poisoned_.overlaps(run.first_output, count);
  for (std::size_t k = 0; k < count; ++k) {
    const auto id = run.first_output + k;
    if (tensors_.contains(id) || (may_be_poisoned && poisoned_.find(id))) return in_use(id);
  }
  return {};
}

Status SessionState::check_inputs(const proto::Run& run, const ir::Program& program) {
  if (run.inputs.size() != program.inputs.size()) {
    return invalid_argument(fmt::format("{} inputs given, it has {}", run.inputs.size(), program.inputs.size()));
  }
  if (run.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
    return invalid_argument(fmt::format("{} scalars given, it has {}", run.scalars.size(), program.scalar_count));
  }
  ++run_serial_;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto id = run.inputs[i];
    const auto found = tensors_.find(id);
    if (found == tensors_.end()) {
      if (poisoned_.find(id)) continue;
      return unknown_tensor(id);
    }
    auto& tensor = found->second;
    const auto& [type, donated] = program.inputs[i];
    if (tensor.type != type && !std::holds_alternative<Failure>(tensor.content)) {
      return invalid_argument(
          fmt::format("input {} is {}, tensor {} is {}", i, ir::to_string(type), id, ir::to_string(tensor.type)));
    }
    if (tensor.used_by == run_serial_ && (donated || tensor.donated_to)) {
      return invalid_argument(fmt::format("tensor {} is donated and used twice", id));
    }
    tensor.used_by = run_serial_;
    tensor.donated_to = donated;
  }
  return {};
}

Status SessionState::check_releases(const proto::Run& run) {
  for (const auto id : run.release) {
    const auto found = tensors_.find(id);
    if (found == tensors_.end()) {
      if (poisoned_.find(id)) continue;
      return unknown_tensor(id);
    }
    if (found->second.used_by == run_serial_ && found->second.donated_to) {
      return invalid_argument(fmt::format("tensor {} is donated and released", id));
    }
  }
  return {};
}

// Requires: check_inputs said ok. Donated tensors leave the table here; the run has their share of the budget.
Status SessionState::bind_inputs(const proto::Run& run, const ir::Program& program, backends::RunArgs& args,
                                 Budget::Share& memory) {
  args.inputs.reserve(run.inputs.size());
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const auto found = tensors_.find(run.inputs[i]);
    args.inputs.push_back(found == tensors_.end() ? nullptr : buffer_of(found->second));
    if (args.inputs.back()) continue;
    args.failures.resize(run.inputs.size());
    args.failures[i] =
        found == tensors_.end() ? *poisoned_.find(run.inputs[i]) : std::get<Failure>(found->second.content);
  }
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (!program.inputs[i].donated) continue;
    auto& buffer = args.inputs[i];
    const auto found = tensors_.find(run.inputs[i]);
    if (found == tensors_.end() || !buffer) {
      drop(run.inputs[i]);
      continue;
    }
    constexpr long kOurs = 2;  // the table's and the run's
    if (buffer.use_count() > kOurs) {
      BURN_TRY(auto copied, budget_->take(found->second.share.bytes()));  // the run gets a copy
      keep_charged(buffer, kOurs, std::exchange(found->second.share, std::move(copied)));
    }
    memory.join(std::move(found->second.share));
    tensors_.erase(found);
    BURN_TRY(buffer, stream_.unshared(std::move(buffer)));
  }
  return {};
}

}  // namespace burn::session
