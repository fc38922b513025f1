#include "client/recording.h"

#include "client/device_state.h"

namespace burn::client {

Recording Recording::detach(const Device& device) { return {device.state(), device.state()->detach_recording()}; }

Recording::~Recording() {
  if (recorder_) device_->keep_recording(std::move(recorder_));
}

void Recording::adopt() {
  if (recorder_) device_->adopt_recording(std::exchange(recorder_, nullptr));
}

}  // namespace burn::client
