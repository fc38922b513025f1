// A pool of command buffers of one timeline, which are reused when the device is done with them.
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

  // Returns a command buffer that is recording, ordered after everything that was submitted to the queue before.
  // `once`: it is submitted only once.
  Result<VkCommandBuffer> begin(bool once);
  // Ends the recording. Later submissions see what it wrote (begin()), and so does the host if `host_reads`, which
  // takes the device a while.
  Status end(VkCommandBuffer commands, bool host_reads);
  // Requires: it has been submitted, or never will be, and is not submitted again.
  void give_back(VkCommandBuffer commands);

 private:
  CommandBuffers(std::shared_ptr<Timeline> timeline, VkCommandPool pool)
      : timeline_(std::move(timeline)), pool_(pool) {}

  struct Used {
    VkCommandBuffer commands;
    std::uint64_t number;  // on the timeline: the device may execute the commands until then
  };

  const std::shared_ptr<Timeline> timeline_;
  const VkCommandPool pool_;
  std::deque<Used> used_;  // numbers rise
};

// Adds a barrier: later commands see what earlier ones have written.
void add_barrier(const DeviceFunctions& vk, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                 VkPipelineStageFlags to, VkAccessFlags read);

}  // namespace burn::backends::vulkan
