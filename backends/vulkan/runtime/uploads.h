// Copies of a stream from the host on a queue of their own, beside what the device computes.
//
// Commands that read an upload wait on the device for its number. Memory that comes back may still be in use by what
// was enqueued before: the stream's own timeline need not mind, as it works in order, but a copy beside it has to. So
// what is uploaded lies in memory of its own, whose blocks remember the last use. What is done is filled again, oldest
// first; where nothing is, more memory is taken, up to a bound: then the copy waits on the device. Copies themselves
// are in order, so an upload that was not used needs no care.
#pragma once

#include <memory>
#include <span>

#include "backends/vulkan/device/host_memory.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "backends/vulkan/runtime/completions.h"

namespace burn::backends::vulkan {

// Of the stream's own thread.
class Uploads {
 public:
  // `compute`: the stream's timeline.
  static Result<std::unique_ptr<Uploads>> open(std::shared_ptr<Timeline> compute);
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads();  // waits for the device

  // A buffer of these bytes, which are kept until they are copied. Requires: there are some. Errors:
  // RESOURCE_EXHAUSTED; what the driver says.
  Result<VulkanBufferPtr> copy(std::shared_ptr<SharedBlock> block);
  bool owns(const VulkanBuffer& buffer) const { return buffer.memory() == memory_.get(); }
  // What commands wait for that use these buffers.
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
