#include "backends/vulkan/runtime/command_buffers.h"

namespace burn::backends::vulkan {
namespace {

// The pipeline stages and accesses of command buffers: copies and fills, and kernels if the queue computes.
struct Work {
  VkPipelineStageFlags stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkAccessFlags written = VK_ACCESS_TRANSFER_WRITE_BIT, read = VK_ACCESS_TRANSFER_READ_BIT;
};

Work work_of(Queue queue) {
  Work work;
  if (queue == Queue::copies) return work;
  work.stages |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  work.written |= VK_ACCESS_SHADER_WRITE_BIT;
  work.read |= VK_ACCESS_SHADER_READ_BIT;
  return work;
}

}  // namespace

Result<std::unique_ptr<CommandBuffers>> CommandBuffers::open(std::shared_ptr<Timeline> timeline) {
  auto& device = timeline->device();
  const VkCommandPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                     .queueFamilyIndex = device.family(timeline->queue())};
  VkCommandPool pool = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(device.check_result(device.vk().CreateCommandPool(device.handle(), &info, nullptr, &pool),
                                           "making a pool of commands"));
  return std::unique_ptr<CommandBuffers>(new CommandBuffers(std::move(timeline), pool));
}

CommandBuffers::~CommandBuffers() {
  (void)timeline_->wait(timeline_->submitted());
  auto& device = timeline_->device();
  device.vk().DestroyCommandPool(device.handle(), pool_, nullptr);
}

Result<VkCommandBuffer> CommandBuffers::begin(bool once) {
  auto& device = timeline_->device();
  VkCommandBuffer commands = VK_NULL_HANDLE;
  if (!used_.empty() && timeline_->is_reached(used_.front().number)) {
    commands = used_.front().commands;
    used_.pop_front();
  } else {
    const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = pool_,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
    BURN_RETURN_IF_ERROR(
        device.check_result(device.vk().AllocateCommandBuffers(device.handle(), &info, &commands), "making commands"));
  }
  const VkCommandBufferBeginInfo begin{
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      .flags = once ? VkCommandBufferUsageFlags{VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT} : 0};
  if (auto status = device.check_result(device.vk().BeginCommandBuffer(commands, &begin), "recording commands");
      !status.ok()) {
    give_back(commands);
    return status;
  }
  const auto work = work_of(timeline_->queue());
  add_barrier(device.vk(), commands, work.stages, work.written, work.stages, work.read | work.written);
  return commands;
}

Status CommandBuffers::end(VkCommandBuffer commands, bool host_reads) {
  auto& device = timeline_->device();
  if (host_reads) {
    const auto work = work_of(timeline_->queue());
    add_barrier(device.vk(), commands, work.stages, work.written, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  }
  return device.check_result(device.vk().EndCommandBuffer(commands), "recording commands");
}

void CommandBuffers::give_back(VkCommandBuffer commands) { used_.push_back({commands, timeline_->submitted()}); }

void add_barrier(const DeviceFunctions& vk, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                 VkPipelineStageFlags to, VkAccessFlags read) {
  const VkMemoryBarrier barrier{
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = read};
  vk.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace burn::backends::vulkan
