#include "backends/cpu/executable.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "backends/cpu/execution.h"
#include "backends/cpu/run_memory.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/workers.h"
#include "backends/run_args.h"
#include "base/settings.h"
#include "compile/plan/buckets.h"
#include "compile/plan/guards.h"
#include "compile/plan/recompute.h"

namespace burn::backends::cpu {
namespace {

bool traces_plans() { return setting(Setting::trace).find("plan") != std::string::npos; }

compile::PlanOptions plan_options() {
  auto options = compile::PlanOptions::from_environment();
  // Sums over rows are cheap if a tile has several rows. With a single row per tile each element would be added to a
  // total, which is wider; that is slower than a separate pass over data that the second-level cache still holds.
  options.limits.min_summed_rows = 8;
  options.buckets = !is_off(Setting::overlap);
  options.limits.max_summed_columns = 2048;
  options.limits.sums_beside_rows = false;
  options.limits.sums_all = true;
  options.limits.max_row_size = 1 << 16;  // more than the first-level cache holds, less than the second: docs/tried.md
  return options;
}

// No exception leaves the backend: what the standard library throws when memory is short becomes a status here.
template <typename Body>
auto without_exceptions(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory");
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

}  // namespace

CpuExecutable::CpuExecutable(std::shared_ptr<const ir::Program> program, std::shared_ptr<Pool> pool)
    : options_(plan_options()),
      given_(std::move(program)),
      prepared_(compile::prepare(given_, options_)),
      pool_(std::move(pool)),
      plan_(compile::make_plan(program_, options_)),
      places_(program_, plan_) {}

Result<std::unique_ptr<CpuExecutable>> CpuExecutable::make(std::shared_ptr<const ir::Program> program,
                                                           std::shared_ptr<Pool> pool) {
  using Made = Result<std::unique_ptr<CpuExecutable>>;
  return without_exceptions([&]() -> Made {
    std::unique_ptr<CpuExecutable> made(new CpuExecutable(std::move(program), std::move(pool)));
    made->stages_.reserve(made->plan_.steps.size());
    TileCodes codes(made->program_);
    for (const auto& step : made->plan_.steps) {
      BURN_TRY(auto stage, prepare_stage(made->program_, made->plan_, step, codes));
      made->stages_.push_back(std::move(stage));
    }
    made->find_collective_ends();
    made->join_adjacent_stages();
    made->find_guarded();
    made->planned_bytes_ = planned_bytes(made->program_, made->plan_, made->stages_);
    if (traces_plans()) fmt::print(stderr, "{}", to_string(made->plan_, made->program_));
    return made;
  });
}

void CpuExecutable::find_collective_ends() {
  const auto ends = compile::find_collective_ends(program_, plan_);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (ends[s] >= 0) stages_[s].collectives_end = options_.buckets ? static_cast<std::size_t>(ends[s]) : s + 1;
  }
}

// Lets consecutive fused steps that do not read each other's results run in one pass.
void CpuExecutable::join_adjacent_stages() {
  constexpr std::size_t kMax = 64;
  std::vector<std::size_t> step_of(program_.values.size());
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    for (const auto ref : plan_.steps[s].results) step_of[static_cast<std::size_t>(ref.index())] = s;
  }
  for (std::size_t first = 0; first < stages_.size(); first += stages_[first].stages_in_pass) {
    if (!stages_[first].fused) continue;
    const auto is_free = [&](const compile::PlanStep& step) {
      return std::ranges::all_of(step.reads, [&](ir::Ref ref) {
        return ref.is_input() || step_of[static_cast<std::size_t>(ref.index())] < first;
      });
    };
    auto end = first + 1;
    while (end < stages_.size() && end - first < kMax && stages_[end].fused && is_free(plan_.steps[end])) ++end;
    stages_[first].stages_in_pass = end - first;
  }
}

// Finds the stages that a Commit guards, and how many bytes of their results are new memory: the rest overwrites the
// old values.
void CpuExecutable::find_guarded() {
  if (std::ranges::none_of(program_.nodes, compile::is_commit)) return;
  std::vector<std::size_t> stage_of(program_.nodes.size());
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const auto& step = plan_.steps[s];
    if (step.group != compile::PlanStep::kSingle ||
        !compile::is_commit(program_.nodes[static_cast<std::size_t>(step.node)]))
      continue;
    stages_[s].is_commit = true;
    stage_of[static_cast<std::size_t>(step.node)] = s;
  }
  const auto commits = compile::find_commits(program_);
  std::vector<std::size_t> first(stages_.size(), stages_.size()), last(stages_.size());  // per Commit's stage
  const auto note = [&](std::size_t s, std::int32_t n) {
    const auto& node = program_.nodes[static_cast<std::size_t>(n)];
    const auto chosen_by = compile::guard_of(program_, node, commits);
    const auto by = chosen_by >= 0 ? chosen_by : compile::guard_of_rows(program_, node, commits);
    if (by < 0) return;
    const auto c = stage_of[static_cast<std::size_t>(by)];
    const auto old = program_.operands_of(node)[chosen_by >= 0 ? 2 : 0];
    const bool takes_its_place = old.is_input() && program_.inputs[static_cast<std::size_t>(old.index())].donated;
    if (!takes_its_place) stages_[c].guarded_bytes += program_.type_of(node).num_bytes();
    first[c] = std::min(first[c], s);
    last[c] = s;
    stages_[s].is_guarded = true;
  };
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const auto& step = plan_.steps[s];
    if (step.group == compile::PlanStep::kSingle) {
      note(s, step.node);
      continue;
    }
    for (const auto& member : plan_.groups[static_cast<std::size_t>(step.group)].members) note(s, member.node);
  }
  std::vector<std::int32_t> begin(stages_.size() + 1);  // Commits whose stages begin here, less those that ended
  for (std::size_t c = 0; c < stages_.size(); ++c) {
    if (first[c] == stages_.size()) continue;
    ++begin[first[c]];
    --begin[last[c] + 1];
  }
  std::int32_t inside = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].is_protected = (inside += begin[s]) > 0;
}

Result<RunResult> CpuExecutable::run(RunArgs args, const Interrupt& interrupt,
                                     const DetachedWorkContext& detached_context) const {
  const InterruptScope scope(&interrupt);
  return without_exceptions([&]() -> Result<RunResult> {
    BURN_RETURN_IF_ERROR(check_args(program_, args, "cpu", [](const Buffer& buffer) {
      return dynamic_cast<const CpuBuffer*>(&buffer) != nullptr;
    }));
    const LibraryThreads alone(1);
    const ActiveRun under_way;
    const auto meter = meter_for(args);
    std::optional<MeterScope> metered;
    if (meter) metered.emplace(meter);
    Execution execution(program_, plan_, places_, stages_, *pool_, args, detached_context);
    try {
      throw_if_interrupted();
      auto result = execution.run();
      if (meter) record_measurement(*meter, result);
      return result;
    } catch (const Interrupted&) {
      return execution.end_early(interrupt.why());
    } catch (const std::bad_alloc&) {
      return execution.end_early(resource_exhausted("out of memory"));
    } catch (const std::exception& error) {
      return execution.end_early(internal_error(error.what()));
    }
  });
}

// Null if a run has been measured already, or if an input of this one failed. The meter also counts donated inputs that
// the run frees.
std::shared_ptr<RunMeter> CpuExecutable::meter_for(RunArgs& args) const {
  const bool is_whole = std::ranges::none_of(args.failures, [](const Failure& failure) { return failure != nullptr; });
  if (measured_bytes_.load(std::memory_order_relaxed) != kNotMeasured || !is_whole) return nullptr;
  auto meter = std::make_shared<RunMeter>();
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    if (program_.inputs[i].donated) static_cast<CpuBuffer&>(*args.inputs[i]).count_end(meter);
  }
  return meter;
}

void CpuExecutable::record_measurement(const RunMeter& meter, const RunResult& result) const {
  if (!result.failures.empty() || result.refused) return;  // some steps were left out
  auto unknown = kNotMeasured;
  (void)measured_bytes_.compare_exchange_strong(unknown, meter.peak(), std::memory_order_relaxed);
}

RunBytes CpuExecutable::run_bytes() const {
  const auto measured = measured_bytes_.load(std::memory_order_relaxed);
  return {.peak = measured == kNotMeasured ? planned_bytes_ : measured};
}

std::size_t CpuExecutable::memory_bytes() const {
  auto bytes = sizeof *this + compile::memory_bytes(plan_) + places_.memory_bytes();
  if (prepared_ != given_) bytes += ir::memory_bytes(program_);  // the given one is counted by its owner
  for (const auto& stage : stages_) bytes += stage.memory_bytes();
  return bytes;
}

}  // namespace burn::backends::cpu
