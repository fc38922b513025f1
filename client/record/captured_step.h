// The device's part of client/capture/capture.h: keeping a recording open for a whole step, and running it again. Each
// function takes the device's lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/record/capture_log.h"
#include "client/record/device_state.h"

namespace burn::client {

// Closes this thread's recording, and every other one in which a value of `values` is pending. Appends to `aliases`,
// for each value, the index of the first one that is the same tensor.
void prepare_arguments(DeviceState& device, std::span<Value* const> values, std::vector<std::uint64_t>& aliases);
// From this call on this thread's program stays open, even where it would otherwise be closed; reads, uploads and other
// devices are refused.
void begin_capture(DeviceState& device, CaptureLog& log);
// Closes and sends the program. `holders`: the only Values that may hold its tensors; `arguments`: the only outside
// tensors that it may use. Errors: another holder or outside tensor; the recording is then an ordinary one.
Result<CapturedRun> end_capture(DeviceState& device, std::span<Value* const> holders,
                                std::span<const proto::TensorId> arguments);
void abandon_capture(DeviceState& device);
// Runs a captured program again, and returns its results.
std::vector<Ptr<Storage>> run_captured(DeviceState& device, CapturedCall call);

}  // namespace burn::client
