// The device's part of client/capture/capture.h: a recording that stays open for a whole step, and running it again.
// Each takes the device's lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/record/capture_log.h"
#include "client/record/device_state.h"

namespace burn::client {

// Closes what this thread has recorded and whatever else `values` are pending in; `aliases` gets for each the index of
// the first that is the same tensor.
void arrange(DeviceState& device, std::span<Value* const> values, std::vector<std::uint64_t>& aliases);
// From here on this thread's program stays open, whatever asks for its end; reads, uploads and other devices are
// refused.
void begin_capture(DeviceState& device, CaptureLog& log);
// Closes and sends the program. `holders`: the only Values that may hold something of it; `arguments`: the only tensors
// from outside that it may use. Errors: another holder, or tensor; the recording is then an ordinary one.
Result<CapturedRun> end_capture(DeviceState& device, std::span<Value* const> holders,
                                std::span<const proto::TensorId> arguments);
void abandon_capture(DeviceState& device);
// Runs a captured program again; its results.
std::vector<Ptr<Storage>> run_captured(DeviceState& device, CapturedCall call);

}  // namespace burn::client
