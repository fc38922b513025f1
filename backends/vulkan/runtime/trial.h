// Timing commands by the device's own clock, in memory of their own.
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

// From one thread at a time. Its memory is no stream's: it is not counted as that of tensors, nothing is trimmed for
// it, and it goes back to the device's pages when the trial ends.
class Trial {
 public:
  // Blocks of so many bytes, filled with numbers that are not zero. Errors: RESOURCE_EXHAUSTED.
  static Result<std::unique_ptr<Trial>> open(std::shared_ptr<Device> device, std::span<const std::size_t> sizes);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // What these commands take on the device, one after the other. The trial's blocks are so many operands, so many
  // results, and the scratch memory. Short ones are repeated. Errors: UNIMPLEMENTED for what the device does not take;
  // what the driver says.
  Result<double> seconds(const compile::TrialEmitter& what, std::size_t operands, std::size_t results);

 private:
  struct Prepared;
  // Memory that goes back when the owner does. Requires: the device does not use it then.
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
  // Of so many rounds, all of them.
  Result<double> elapsed(const Prepared& prepared, int rounds);
  // Hands commands to the device, which are recorded then, and waits for it.
  Status run(const std::function<void(VkCommandBuffer)>& record);

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<Timeline> timeline_;
  const std::unique_ptr<CommandBuffers> commands_;
  const std::shared_ptr<HostMemory> host_;
  std::vector<Block> blocks_;
};

}  // namespace burn::backends::vulkan
