// The announcement of a device's worker that it is about to end.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/device.h"

namespace burn {

// The worker accepts no new sessions, and ends this one at `end`. Until then it executes calls: a training can save a
// checkpoint, to continue on another worker or when this one has been replaced.
struct Notice {
  std::string url;                            // of the device
  std::chrono::steady_clock::time_point end;  // already over if it is in the past
};

// std::nullopt if the worker has announced nothing so far, if its version has no announcements, or if the device is in
// this process. Once this function has been called, a worker that ends gives this device's session time
// (--drain-timeout); otherwise it ends as soon as it has answered the calls sent before. Sends at most one small frame,
// and does not wait. Thread-safe.
std::optional<Notice> notice_of(const Device& device);

}  // namespace burn
