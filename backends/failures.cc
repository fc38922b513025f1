#include "backends/failures.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "backends/run_args.h"
#include "compile/plan/guards.h"

namespace burn::backends {

std::vector<Failure> propagate_failures(const ir::Program& program, std::span<const Failure> inputs) {
  const auto is_failure = [](const Failure& failure) { return failure != nullptr; };
  if (std::ranges::none_of(inputs, is_failure)) return {};
  std::vector<Failure> values;
  values.reserve(program.values.size());
  const auto commits = compile::find_commits(program);
  for (const auto& node : program.nodes) {
    Failure why;
    for (const auto ref : compile::operands_propagating_failure(program, node, commits)) {
      const auto k = static_cast<std::size_t>(ref.index());
      why = ref.is_input() ? inputs[k] : values[k];
      if (why) break;
    }
    values.resize(values.size() + node.value_count, why);
  }
  std::vector<Failure> outputs;
  outputs.reserve(program.outputs.size());
  for (const auto ref : program.outputs) outputs.push_back(values[static_cast<std::size_t>(ref.index())]);
  return outputs;
}

void name_program(std::span<Failure> failures, std::span<const Failure> known, std::optional<std::uint64_t> program) {
  if (!program) return;
  std::unordered_map<Failure, Failure> named;
  for (auto& failure : failures) {
    if (!failure || std::ranges::find(known, failure) != known.end()) continue;
    auto& here = named[failure];
    if (!here) here = std::make_shared<const Status>(failure->with_context(fmt::format("program {}", *program)));
    failure = here;
  }
}

void name_failures(RunResult& result, std::span<const Failure> known, std::optional<std::uint64_t> program) {
  if (!result.stopped.ok()) return;
  if (!result.refused) return name_program(result.failures, known, program);
  const bool has_failures = !result.failures.empty();
  result.failures.push_back(result.refused);
  name_program(result.failures, known, program);
  result.refused = std::move(result.failures.back());
  result.failures.pop_back();
  if (!has_failures) result.failures.clear();
}

RunResult ended_early(const ir::Program& program, const RunArgs& args, const Status& why,
                      const std::function<Result<BufferPtr>(SharedBytes)>& upload) {
  RunResult result;
  result.stopped = why;
  result.outputs.resize(program.outputs.size());
  result.failures.assign(program.outputs.size(), std::make_shared<const Status>(why));
  for (const auto& [k, input, number, type] : compile::kept_outputs(program)) {
    const auto i = static_cast<std::size_t>(std::max(input, 0));
    if (number) {
      if (auto buffer = upload(filled(type, *number)); buffer.ok()) result.outputs[k] = *std::move(buffer);
    } else if (!args.failures.empty() && args.failures[i]) {
      result.failures[k] = args.failures[i];
    } else {
      result.outputs[k] = args.inputs[i];
    }
    if (result.outputs[k]) result.failures[k] = nullptr;
  }
  return result;
}

}  // namespace burn::backends
