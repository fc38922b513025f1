// Command buffers of one timeline: taken, submitted, and used again when the device is done with them.
#pragma once

#include <deque>
#include <memory>

#include "backends/vulkan/device/timeline.h"

namespace burn::backends::vulkan {

// From one thread at a time.
class CommandBuffers {
 public:
  static Result<std::unique_ptr<CommandBuffers>> open(std::shared_ptr<Timeline> timeline);
  CommandBuffers(const CommandBuffers&) = delete;
  CommandBuffers& operator=(const CommandBuffers&) = delete;
  ~CommandBuffers();

  // One that records, after everything that was submitted to the queue before. `once`: it is submitted once.
  Result<VkCommandBuffer> begin(bool once);
  // Ends the recording. Later submissions see what it wrote (begin()), and the host if `host_reads`: telling the host
  // takes the device a while.
  Status end(VkCommandBuffer commands, bool host_reads);
  // Requires: it is submitted by now, or never will be, and not again.
  void give_back(VkCommandBuffer commands);

 private:
  CommandBuffers(std::shared_ptr<Timeline> timeline, VkCommandPool pool)
      : timeline_(std::move(timeline)), pool_(pool) {}

  struct Used {
    VkCommandBuffer commands;
    std::uint64_t number;  // of the timeline: until then the device may be at it
  };

  const std::shared_ptr<Timeline> timeline_;
  const VkCommandPool pool_;
  std::deque<Used> used_;  // numbers rise
};

// Between dispatches: what is behind sees what those before have written.
void add_barrier(const DeviceFunctions& vk, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                 VkPipelineStageFlags to, VkAccessFlags read);

}  // namespace burn::backends::vulkan
