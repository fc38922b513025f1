// Asks a device what it is doing.
#pragma once

#include <memory>
#include <optional>

#include "client/device.h"
#include "train/events/device_use.h"

namespace burn::metric {

// Thread-safe.
class DeviceUseSampler {
 public:
  DeviceUseSampler();

  // Asks (proto::Session::stats) if the last question is a second ago, and waits for nothing.
  void ask(const Device& device);
  // The last answer; nothing before the first, and of a server that does not answer or is gone.
  std::optional<train::events::DeviceUse> last() const;

 private:
  struct Answers;  // of the device, on a thread of its session
  std::shared_ptr<Answers> answers_;
};

}  // namespace burn::metric
