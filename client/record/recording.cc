#include "client/record/recording.h"

#include <utility>

#include "client/record/device_state.h"

namespace burn::client {

Recording Recording::detach(const Device& device) {
  Recording recording;
  recording.take(device.state());
  return recording;
}

Recording Recording::detach() {
  Recording recording;
  for (const auto& device : DeviceState::used_by_this_thread()) recording.take(device);
  return recording;
}

void Recording::take(const std::shared_ptr<DeviceState>& device) {
  if (auto recorder = device->detach_recording()) parts_.push_back({device, std::move(recorder)});
}

Recording::~Recording() {
  for (auto& part : parts_) part.device->keep_recording(std::move(part.recorder));
}

void Recording::adopt() {
  for (auto& part : std::exchange(parts_, {})) part.device->adopt_recording(std::move(part.recorder));
}

void pace_this_thread() {
  for (const auto& device : DeviceState::used_by_this_thread()) device->pace();
}

}  // namespace burn::client
