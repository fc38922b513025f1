// Failures of runs, for backends: how failures of inputs propagate through a program, and how a new failure is named.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace burn::backends {

// Returns for each output the failure of the first input, in the order of its operands, that it is computed from; null
// if none of them failed, or if a Commit guards the output and the value that it was to replace has not failed. Returns
// an empty vector if `inputs` is empty or contains no failure.
std::vector<Failure> propagate_failures(const ir::Program& program, std::span<const Failure> inputs);

// Puts "program N: " before the failures of a run, except the `known` failures of its inputs. Outputs that shared one
// failure still share one. Does nothing if there is no `program`.
void name_program(std::span<Failure> failures, std::span<const Failure> known, std::optional<std::uint64_t> program);
// The same for all failures in a result; does nothing if the run ended early.
void name_failures(RunResult& result, std::span<const Failure> known, std::optional<std::uint64_t> program);
// The result of a run that ended before anything was overwritten: outputs that are kept (plan/guards.h) have the
// buffers that they were to replace, or are filled by `upload`; all others fail with `why`. For backends whose device
// computes on its own.
RunResult ended_early(const ir::Program& program, const RunArgs& args, const Status& why,
                      const std::function<Result<BufferPtr>(SharedBytes)>& upload);

}  // namespace burn::backends
