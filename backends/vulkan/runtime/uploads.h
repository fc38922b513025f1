// Copies from the host to the device on a queue of their own, while the device computes.
//
// Commands that read an upload wait on the device for its number. A freed block may still be in use by commands that
// were enqueued before: the stream's own timeline is in order and needs no care, but a concurrent copy does. So uploads
// have memory of their own, whose blocks remember their last use. Blocks that the device is done with are filled again,
// oldest first; if there is none, more memory is taken, up to a bound: then the copy waits on the device. The copies
// are in order among themselves, so an upload that was never used needs no care.
#pragma once

#include <memory>
#include <span>

#include "backends/vulkan/device/host_memory.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "backends/vulkan/runtime/completions.h"

namespace burn::backends::vulkan {

// Used by the stream's own thread.
class Uploads {
 public:
  // `compute`: the stream's timeline.
  static Result<std::unique_ptr<Uploads>> open(std::shared_ptr<Timeline> compute);
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads();  // waits for the device

  // Returns a buffer of these bytes, which are kept until they are copied. Requires: there are some. Errors:
  // RESOURCE_EXHAUSTED; what the driver says.
  Result<VulkanBufferPtr> copy(std::shared_ptr<SharedBlock> block);
  bool owns(const VulkanBuffer& buffer) const { return buffer.memory() == memory_.get(); }
  // The point that commands which use these buffers must wait for.
  Await of(std::span<const BufferPtr> buffers) const;
  Await all() const { return {copies_, copies_->submitted()}; }

 private:
  Uploads(std::shared_ptr<Timeline> compute, std::shared_ptr<Timeline> copies,
          std::unique_ptr<CommandBuffers> commands);

  const std::shared_ptr<Timeline> compute_, copies_;
  const std::shared_ptr<StreamMemory> memory_;
  const std::unique_ptr<CommandBuffers> commands_;
  Completions completions_;
};

}  // namespace burn::backends::vulkan
