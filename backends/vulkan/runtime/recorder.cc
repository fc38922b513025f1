#include "backends/vulkan/runtime/recorder.h"

#include <utility>

#include "backends/vulkan/device/pipelines.h"

namespace burn::backends::vulkan {

Recorder::Recorder(Device& device, VkCommandBuffer commands, VkDeviceAddress table, RecordedTimes* times)
    : vk_(device.vk()), layout_(device.pipelines().layout()), commands_(commands), table_(table), times_(times) {}

void Recorder::copy_table(const RunTable& table, std::size_t bytes) {
  if (table.copy) copy_table(table.written->piece(), table.copy->piece(), bytes);
}

void Recorder::copy_table(const Piece& from, const Piece& to, std::size_t bytes) {
  if (bytes == 0) return;
  const VkBufferCopy copy{.srcOffset = from.offset, .dstOffset = to.offset, .size = bytes};
  vk_.CmdCopyBuffer(commands_, from.page->buffer, to.page->buffer, 1, &copy);
  add_barrier(vk_, commands_, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void Recorder::clear_words(const VulkanExecutable& program, std::size_t clears) {
  for (std::size_t k = 0; k < clears; ++k)
    dispatch({.pipeline = program.system_kernel(SystemKernel::clear_marked),
              .arguments = program.table().bytes + kClearBytes * k});
  if (clears > 0) end_level();
}

void Recorder::add_levels(const VulkanExecutable& program, const Levels& levels, const std::vector<bool>& left_out) {
  if (times_) times_->begin(commands_);
  for (const auto& level : levels) {
    for (const auto& one : level) {
      const bool is_left_out = !left_out.empty() && left_out[static_cast<std::size_t>(one.step)];
      if (is_left_out) continue;
      dispatch(one);
      if (!times_) continue;
      end_level();
      times_->mark(commands_, program.name_of_step(one.step));
    }
    end_level();
  }
}

void Recorder::copy_reports(const VulkanExecutable& program) {
  if (const auto* copy = program.report_copy()) dispatch(*copy);
}

void Recorder::dispatch(const Dispatch& dispatch) {
  constexpr VkAccessFlags kAll = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  if (std::exchange(is_level_over_, false))
    add_barrier(vk_, commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kAll, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kAll);
  if (dispatch.pipeline != bound_) vk_.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.pipeline);
  bound_ = dispatch.pipeline;
  const VkDeviceAddress arguments = table_ + dispatch.arguments;
  vk_.CmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments, &arguments);
  vk_.CmdDispatch(commands_, dispatch.blocks[0], dispatch.blocks[1], dispatch.blocks[2]);
}

}  // namespace burn::backends::vulkan
