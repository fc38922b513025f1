// What every device's runs of a DeviceProgram have in common: buffers of outputs, failures that are known, what outputs
// hang on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/device_buffer.h"
#include "backends/gpu/device_program.h"

namespace burn::backends {

// Fails inputs of which the device has found out by now that they hold not what they should.
void add_known_failures(RunArgs& args);

// Buffers of the outputs: new ones, or those of inputs that `is_own` lets write over. Where there is no memory the
// output fails.
std::vector<BufferPtr> output_buffers(const DeviceProgram& program, const RunArgs& args, RunResult& result,
                                      const std::function<Result<BufferPtr>(std::size_t bytes)>& allocate,
                                      const std::function<bool(const BufferPtr& input)>& is_own);

// Where outputs have no buffer, what is computed from them fails for the same reason; the rest is computed. The steps
// to leave out; empty: none.
std::vector<bool> fail_without_memory(const DeviceProgram& program, const std::vector<BufferPtr>& buffers,
                                      RunResult& result);

// Reads what the checks of a run found, kReportBytes each, makes failures of it and of a device or group that ended,
// publishes them, and tells the sink of each. `program_number`: of the run (RunArgs::program).
void publish_findings(const DeviceProgram& program, Report& report, std::span<const std::byte> found,
                      const Status& device, const Status& groups, std::optional<std::uint64_t> program_number,
                      std::uint64_t serial, const FailureSink& sink);

// Lets outputs hang on what their inputs do, and on the report of the run's own checks; null: it has none.
void inherit_outcomes(const DeviceProgram& program, const RunArgs& args, const std::shared_ptr<Report>& report,
                      RunResult& result);

}  // namespace burn::backends
