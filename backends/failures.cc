#include "backends/failures.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "backends/plan/guards.h"
#include "backends/run_args.h"

namespace burn::backends {

std::vector<Failure> spread(const ir::Program& program, std::span<const Failure> inputs) {
  const auto is_failure = [](const Failure& failure) { return failure != nullptr; };
  if (std::ranges::none_of(inputs, is_failure)) return {};
  std::vector<Failure> values;
  values.reserve(program.values.size());
  const auto commits = find_commits(program);
  for (const auto& node : program.nodes) {
    Failure why;
    const bool is_guarded = guard_of(program, node, commits) >= 0;  // what is not there is kept
    for (const auto ref : program.operands_of(node).subspan(is_guarded ? 2 : 0)) {
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
  for (const auto& [k, input, number, type] : kept_outputs(program)) {
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

Status at_node(const Status& status, std::string_view op, std::string_view site) {
  return {status.code(),
          fmt::format("{}: {}{}", op, status.message(), site.empty() ? "" : fmt::format(" (at {})", site))};
}

std::string_view called_name(const ir::Node& node) {
  return node.site.op != nullptr ? std::string_view{node.site.op} : ir::name(node.op);
}

Status at_node(const Status& status, const ir::Node& node) {
  return at_node(status, called_name(node), to_string(node.site));
}

Status index_outside(std::int64_t index, std::int64_t size) {
  return {StatusCode::out_of_range, size > 0 ? fmt::format("index {} is outside 0..{}", index, size - 1)
                                             : fmt::format("index {} into an axis of size 0", index)};
}

namespace {

std::string which_matrix(const MatrixFailure& at) {
  if (at.count == 1) return fmt::format("the matrix ({} x {})", at.rows, at.columns);
  return fmt::format("matrix {} of the batch of {} ({} x {})", at.matrix, at.count, at.rows, at.columns);
}

}  // namespace

Status singular_matrix(const MatrixFailure& at) {
  return invalid_argument(fmt::format("{} is singular: pivot {} is 0", which_matrix(at), at.number));
}

Status not_positive_definite(const MatrixFailure& at) {
  return invalid_argument(fmt::format("{} is not positive definite: its leading minor of order {} is not positive",
                                      which_matrix(at), at.number));
}

Status not_converged(const MatrixFailure& at) {
  return internal_error(fmt::format("{}: the iteration did not converge", which_matrix(at)));
}

}  // namespace burn::backends
