// Memory of a device that computes apart from the host: whether it holds what it should is known later.
#pragma once

#include <memory>

#include "backends/gpu/outcome.h"
#include "backends/stream.h"

namespace burn::backends {

class DeviceBuffer : public Buffer {
 public:
  // What is to be known of what fills it (outcome.h); null: it is there, or will be.
  std::shared_ptr<const Outcome> outcome;
};

// Requires: it is one of a backend whose buffers are DeviceBuffers.
inline DeviceBuffer& device_buffer(const BufferPtr& buffer) { return static_cast<DeviceBuffer&>(*buffer); }

// Why a buffer has not what it should, as far as that is known; null: nothing is.
inline Failure failure_of(const BufferPtr& buffer) {
  const auto& outcome = device_buffer(buffer).outcome;
  return outcome ? outcome->failure() : nullptr;
}

}  // namespace burn::backends
