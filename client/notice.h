// What the worker of a device has announced: that it is about to end.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/device.h"

namespace burn {

// The worker takes no new sessions, and ends this one at `end`. Until then it executes what it is sent: a training
// saves a checkpoint, and goes on where another worker is, or when this one has been replaced.
struct Notice {
  std::string url;                            // of the device
  std::chrono::steady_clock::time_point end;  // already over if it is in the past
};

// Nothing: it has announced nothing so far, or is of a version that does not, or the device is in this process. From
// the first call on the worker gives this device's session time before it ends (--drain-timeout); without one it ends
// as soon as it has answered what it was sent. Sends at most one small frame, and waits for nothing. Thread-safe.
std::optional<Notice> notice_of(const Device& device);

}  // namespace burn
