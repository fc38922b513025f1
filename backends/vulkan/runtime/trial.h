// Times commands with the device's own clock, in memory of their own.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/vulkan/device/host_memory.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "compile/lower/trial_emitter.h"

namespace burn::backends::vulkan {

// Used by one thread at a time. Its memory belongs to no stream: it is not counted as memory of tensors, other memory
// is not trimmed for it, and it returns to the device's pages when the trial ends.
class Trial {
 public:
  // Allocates blocks of these sizes, filled with nonzero numbers. Errors: RESOURCE_EXHAUSTED.
  static Result<std::unique_ptr<Trial>> open(std::shared_ptr<Device> device, std::span<const std::size_t> sizes);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // The time that these commands take on the device, one after the other. The trial's blocks are, in order, `operands`
  // operands, `results` results, and the scratch memory. Short commands are repeated. Errors: UNIMPLEMENTED for kernels
  // that the device does not accept; what the driver says.
  Result<double> seconds(const compile::TrialEmitter& what, std::size_t operands, std::size_t results);

 private:
  struct Prepared;
  // Memory that returns to its pages on destruction. Requires: the device does not use it then.
  class Block {
   public:
    Block(Pages& pages, const Piece& piece) : pages_(&pages), piece_(piece) {}
    Block(Block&& other) noexcept : pages_(std::exchange(other.pages_, nullptr)), piece_(other.piece_) {}
    Block& operator=(Block&&) = delete;
    ~Block() {
      if (pages_) pages_->give_back(piece_);
    }
    const Piece& operator*() const { return piece_; }

   private:
    Pages* pages_;
    Piece piece_;
  };

  Trial(std::shared_ptr<Device> device, std::shared_ptr<Timeline> timeline, std::unique_ptr<CommandBuffers> commands);
  Result<Block> allocate(std::size_t bytes);
  Status fill();
  // The time of all `rounds` repetitions.
  Result<double> elapsed(const Prepared& prepared, int rounds);
  // Submits the commands that `record` records, and waits for the device.
  Status run(const std::function<void(VkCommandBuffer)>& record);

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<Timeline> timeline_;
  const std::unique_ptr<CommandBuffers> commands_;
  const std::shared_ptr<HostMemory> host_;
  std::vector<Block> blocks_;
};

}  // namespace burn::backends::vulkan
