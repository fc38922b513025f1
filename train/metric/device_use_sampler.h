// Queries the use of a device.
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

  // Sends a query (proto::Session::stats) if the last one was at least a second ago. Does not wait.
  void ask(const Device& device);
  // The last answer; std::nullopt before the first one, and if the server does not answer or is gone.
  std::optional<train::events::DeviceUse> last() const;

 private:
  struct Answers;  // set on a thread of the device's session
  std::shared_ptr<Answers> answers_;
};

}  // namespace burn::metric
