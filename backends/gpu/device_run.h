// The parts of a run of a DeviceProgram that all devices share: output buffers, known failures, and what outputs depend
// on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/device_buffer.h"
#include "backends/gpu/device_program.h"

namespace burn::backends {

// Adds the failures of inputs whose content the device has found to be invalid by now.
void add_known_failures(RunArgs& args);

// Buffers for the outputs: new ones, or those of donated inputs for which `is_own` returns true. An output without
// memory fails.
std::vector<BufferPtr> output_buffers(const DeviceProgram& program, const RunArgs& args, RunResult& result,
                                      const std::function<Result<BufferPtr>(std::size_t bytes)>& allocate,
                                      const std::function<bool(const BufferPtr& input)>& is_own);

// If outputs have no buffer, everything that is computed from them fails for the same reason; the rest is computed.
// Returns the steps to leave out; empty if there are none.
std::vector<bool> fail_without_memory(const DeviceProgram& program, const std::vector<BufferPtr>& buffers,
                                      RunResult& result);

// Reads the reports of a run's checks, kReportBytes each, makes failures of them and of a device or group that ended,
// publishes them, and passes each one to the sink. `program_number`: of the run (RunArgs::program).
void publish_findings(const DeviceProgram& program, Report& report, std::span<const std::byte> found,
                      const Status& device, const Status& groups, std::optional<std::uint64_t> program_number,
                      std::uint64_t serial, const FailureSink& sink);

// Makes outputs depend on the checks that their inputs depend on, and on the run's own `report`; null: it has no
// checks.
void inherit_outcomes(const DeviceProgram& program, const RunArgs& args, const std::shared_ptr<Report>& report,
                      RunResult& result);

}  // namespace burn::backends
