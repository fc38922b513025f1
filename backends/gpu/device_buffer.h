// Memory of a device that computes asynchronously to the host: whether its content was computed successfully is known
// later.
#pragma once

#include <memory>

#include "backends/gpu/outcome.h"
#include "backends/stream.h"

namespace burn::backends {

class DeviceBuffer : public Buffer {
 public:
  // The checks that decide whether the content is valid (outcome.h); null: the content cannot fail.
  std::shared_ptr<const Outcome> outcome;
};

// Requires: the buffer belongs to a backend whose buffers are DeviceBuffers.
inline DeviceBuffer& device_buffer(const BufferPtr& buffer) { return static_cast<DeviceBuffer&>(*buffer); }

// Why a buffer's content is invalid, as far as that is known by now; null: no failure is known.
inline Failure failure_of(const BufferPtr& buffer) {
  const auto& outcome = device_buffer(buffer).outcome;
  return outcome ? outcome->failure() : nullptr;
}

}  // namespace burn::backends
