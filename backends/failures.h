// Failures of runs, for backends: what becomes of a program whose inputs failed, and what a new failure is called.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace burn::backends {

// For each output the failure of the first input, in the order of its operands, that it is computed from; null where
// all of them are there, or a Commit guards the output and what it was to replace is. Empty if `inputs` is, or names no
// failure.
std::vector<Failure> spread(const ir::Program& program, std::span<const Failure> inputs);

// Puts "program N: " before the failures of a run that are not among the `known` ones, those of its inputs. What was
// one failure stays one. Nothing is done where there is no program.
void name_program(std::span<Failure> failures, std::span<const Failure> known, std::optional<std::uint64_t> program);
// The same for all that a result names, but for why the run ended early.
void name_failures(RunResult& result, std::span<const Failure> known, std::optional<std::uint64_t> program);
// What is left of a run that ended before anything was written over: outputs that are kept (plan/guards.h) have the
// buffers that they were to replace, or are filled by `upload`; all others fail for this reason. For backends whose
// device computes on its own.
RunResult ended_early(const ir::Program& program, const RunArgs& args, const Status& why,
                      const std::function<Result<BufferPtr>(SharedBytes)>& upload);

// "gather: index 12 is outside 0..9 (at model.cc:41)"
Status at_node(const Status& status, const ir::Node& node);
std::string_view called_name(const ir::Node& node);  // what the user called: "gather_nd", whose node is a gather
// The same where the node is gone; an empty site is not named.
Status at_node(const Status& status, std::string_view op, std::string_view site);

// "index 12 is outside 0..9", of an axis of that size: OUT_OF_RANGE.
Status index_outside(std::int64_t index, std::int64_t size);

// A matrix of a batch that has no answer.
struct MatrixFailure {
  std::int64_t matrix = 0, count = 1, rows = 0, columns = 0;
  std::int64_t number = 0;  // where it was found out
};
// "matrix 3 of the batch of 8 (4 x 4) is singular: pivot 2 is 0": INVALID_ARGUMENT.
Status singular_matrix(const MatrixFailure& at);
// `number`: the order of the leading minor that is not positive. INVALID_ARGUMENT.
Status not_positive_definite(const MatrixFailure& at);
// Of singular values and eigenvalues: INTERNAL.
Status not_converged(const MatrixFailure& at);

}  // namespace burn::backends
