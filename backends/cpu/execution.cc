#include "backends/cpu/execution.h"

#include <algorithm>
#include <array>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"
#include "compile/plan/guards.h"
#include "ir/node_errors.h"

namespace burn::backends::cpu {
namespace {

// An output of a program: row-major from the start of a buffer that is not much larger than the value.
Result<BufferPtr> as_output(Run& run, const Array& x) {
  if (x.starts_its_buffer() && x.is_contiguous() && x.buffer()->size() / 2 <= x.num_bytes())
    return BufferPtr(x.buffer());
  BURN_TRY(auto y, run.allocate(x.type()));
  copy(x, y);
  return BufferPtr(y.buffer());
}

}  // namespace

ValuePlaces::ValuePlaces(const ir::Program& program, const compile::Plan& plan) : places_(program.values.size()) {
  for (const auto& step : plan.steps) {
    for (const auto ref : step.results)
      places_[static_cast<std::size_t>(ref.index())] = static_cast<std::int32_t>(count_++);
  }
}

Execution::Execution(const ir::Program& program, const compile::Plan& plan, const ValuePlaces& places,
                     std::span<const Stage> stages, Pool& pool, RunArgs& args,
                     const DetachedWorkContext& detached_context)
    : program_(program),
      plan_(plan),
      places_(places),
      stages_(stages),
      run_{pool, args.scalars, args.seed, args.random_offset, args.groups},
      detached_context_(detached_context),
      inputs_(program.inputs.size()),
      values_(places.count()),
      last_interrupt_(InterruptScope::current()) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    auto buffer = std::static_pointer_cast<CpuBuffer>(std::move(args.inputs[i]));
    if (!args.failures.empty() && args.failures[i]) {
      fail(ir::Ref::input(static_cast<std::int32_t>(i)), std::move(args.failures[i]));
    } else if (plan_.input_last_use[i] != compile::Plan::kUnused) {
      inputs_[i] = Array(program_.inputs[i].type, std::move(buffer));
    }
  }
}

// --- failures --------------------------------------------------------------------------------------------------------

std::size_t Execution::index_of(ir::Ref ref) const {
  return static_cast<std::size_t>(ref.index()) + (ref.is_input() ? 0 : inputs_.size());
}

Failure Execution::failure_among(std::span<const ir::Ref> refs) const {
  if (failures_.empty()) return nullptr;
  for (const auto ref : refs) {
    if (const auto& failure = failures_[index_of(ref)]) return failure;
  }
  return nullptr;
}

void Execution::fail(ir::Ref ref, Failure why) {
  if (failures_.empty()) failures_.resize(inputs_.size() + program_.values.size());
  failures_[index_of(ref)] = std::move(why);
}

// --- steps -----------------------------------------------------------------------------------------------------------

RunResult Execution::run() {
  bool was_protected = false;
  for (std::size_t position = 0; position < stages_.size(); position += stages_[position].stages_in_pass) {
    finish_collectives_before(position + stages_[position].stages_in_pass);
    const auto together = stages_.subspan(position, stages_[position].stages_in_pass);
    const bool is_protected = std::ranges::any_of(together, &Stage::is_protected);
    if (is_protected) {
      if (!was_protected) last_interrupt_.begin_run();
      const InterruptScope to_the_end(&last_interrupt_);
      run_stages(position);
    } else {
      throw_if_interrupted();
      run_stages(position);
    }
    was_protected = is_protected;
  }
  finish_collectives_before(stages_.size() + 1);
  return outputs();
}

void Execution::run_stages(std::size_t position) {
  if (!stages_[position].collectives.empty()) {
    run_collectives(position);
  } else if (stages_[position].fused) {
    run_groups(position, stages_[position].stages_in_pass);
  } else if (stages_[position].is_commit) {
    run_commit(position);
  } else {
    run_single(position);
  }
}

// Afterwards the kernel is the only owner of values at their last use.
std::vector<Array> Execution::take_operands(std::size_t position) {
  const auto& step = plan_.steps[position];
  std::vector<Array> operands;
  operands.reserve(step.reads.size());
  for (const auto ref : step.reads) operands.push_back(value(ref));
  for (const auto ref : step.reads) {
    if (plan_.last_use(ref) == static_cast<std::int32_t>(position)) value(ref) = Array();
  }
  return operands;
}

void Execution::run_single(std::size_t position) {
  const auto& step = plan_.steps[position];
  auto operands = take_operands(position);
  const auto operand = [&](ir::Ref ref) {
    return operands[static_cast<std::size_t>(std::ranges::find(step.reads, ref) - step.reads.begin())];
  };
  if (stages_[position].is_guarded) reserved_ = {};
  if (auto instead = substitute_for(node(step.node), operand)) {
    if (instead->failure) return fail(step.results[0], std::move(instead->failure));
    return keep(step.results[0], std::move(instead->value));
  }
  const auto& stage = stages_[position];
  auto failure = failure_among(step.reads);
  if (!failure) {
    std::array<Array, ir::kMaxResults> results;
    const std::span made(results.data(), step.results.size());
    const auto done =
        stage.may_take_long ? run_detachable(stage, std::move(operands), made) : stage.kernel(run_, operands, made);
    if (done.ok()) {
      for (std::size_t i = 0; i < step.results.size(); ++i) keep(step.results[i], std::move(results[i]));
      return;
    }
    failure = failure_of(ir::at_node(done, node(step.node)));
  }
  for (const auto ref : step.results) fail(ref, failure);
}

// Runs a kernel that the run may have to abandon: the call owns all that it uses.
Status Execution::run_detachable(const Stage& stage, std::vector<Array> operands, std::span<Array> results) {
  struct Call {
    DetachedWorkContext detached_context;
    std::vector<std::uint64_t> scalars;
    Run run;
    const Kernel& kernel;  // of the executable
    std::vector<Array> operands;
    std::vector<Array> results;
  };
  const std::shared_ptr<Call> call(new Call{.detached_context = detached_context_,
                                            .scalars = {run_.scalars.begin(), run_.scalars.end()},
                                            .run = run_,
                                            .kernel = stage.kernel,
                                            .operands = std::move(operands),
                                            .results = std::vector<Array>(results.size())});
  call->run.scalars = call->scalars;
  auto done = run_detached(detached_context_.abandoned_work, [call] {
    const LibraryThreads alone(1);
    return call->kernel(call->run, call->operands, call->results);
  });
  std::ranges::move(call->results, results.begin());
  return done;
}

// --- the end ---------------------------------------------------------------------------------------------------------

Result<RunResult> Execution::end_early(const Status& why) {
  abandon_collectives(why);
  const auto kept = compile::kept_outputs(program_);
  if (kept.empty()) return why;
  const InterruptScope to_the_end(nullptr);
  RunResult result;
  result.stopped = why;
  result.outputs.resize(program_.outputs.size());
  result.failures.assign(program_.outputs.size(), failure_of(why));
  for (const auto& [k, input, number, type] : kept) {
    const auto ref = program_.outputs[k];
    const auto& made = value(ref);
    const auto old = input >= 0 ? ir::Ref::input(input) : ref;
    Result<BufferPtr> buffer = BufferPtr{};
    if (made.buffer())
      buffer = as_output(run_, made);
    else if (auto failure = failure_among({&old, 1}))
      result.failures[k] = std::move(failure);
    else if (input >= 0 && inputs_[static_cast<std::size_t>(input)].buffer())
      buffer = as_output(run_, inputs_[static_cast<std::size_t>(input)]);
    else if (number)
      buffer = as_output(
          run_, Array::immediate(number->dtype, static_cast<std::uint64_t>(number->bits())).expanded(type.shape));
    if (!buffer.ok() || !*buffer) continue;
    result.outputs[k] = *std::move(buffer);
    result.failures[k] = nullptr;
  }
  return result;
}

RunResult Execution::outputs() {
  RunResult result;
  result.refused = why_refused_;
  result.outputs.reserve(program_.outputs.size());
  const auto fail_output = [&](std::size_t k, Failure why) {
    if (result.failures.empty()) result.failures.resize(program_.outputs.size());
    result.failures[k] = std::move(why);
    result.outputs.push_back(nullptr);
  };
  for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
    const auto ref = program_.outputs[k];
    if (auto failure = failure_among({&ref, 1})) {
      fail_output(k, std::move(failure));
    } else if (auto output = as_output(run_, value(ref)); output.ok()) {
      result.outputs.push_back(*std::move(output));
    } else {
      fail_output(k, failure_of(ir::at_node(output.status(), program_.maker_of(ref))));
    }
  }
  return result;
}

}  // namespace burn::backends::cpu
