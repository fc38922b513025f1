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

}  // namespace burn::backends
