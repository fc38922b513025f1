// Writes the commands of a run into a command buffer.
#pragma once

#include <vector>

#include "backends/vulkan/device/kernel_times.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "backends/vulkan/runtime/run_tables.h"
#include "backends/vulkan/runtime/vulkan_executable.h"

namespace burn::backends::vulkan {

inline constexpr std::size_t kClearBytes = 16;  // of the record of a word to clear (SystemKernel::clear_marked)

// Arguments of all dispatches lie in one table.
class Recorder {
 public:
  // `times`: where set, each dispatch waits for the one before, and its time is taken.
  Recorder(Device& device, VkCommandBuffer commands, VkDeviceAddress table, RecordedTimes* times = nullptr);

  // The table as the host has written it; dispatches that are recorded later see it. Of one that the device reads where
  // the host writes it: nothing.
  void copy_table(const RunTable& table, std::size_t bytes);
  void copy_table(const Piece& from, const Piece& to, std::size_t bytes);
  // Of so many records behind the table of a program.
  void clear_words(const VulkanExecutable& program, std::size_t clears);
  // Without the steps that are marked, where any are. Dispatches that are recorded later see what these write.
  void add_levels(const VulkanExecutable& program, const Levels& levels, const std::vector<bool>& left_out);
  // What checks have found by then.
  void copy_reports(const VulkanExecutable& program);
  void dispatch(const Dispatch& dispatch);
  // Dispatches that are recorded later wait for those before. So do later command buffers, also without this.
  void end_level() { is_level_over_ = true; }

 private:
  const DeviceFunctions& vk_;
  const VkPipelineLayout layout_;
  const VkCommandBuffer commands_;
  const VkDeviceAddress table_;
  RecordedTimes* const times_;
  VkPipeline bound_ = VK_NULL_HANDLE;
  bool is_level_over_ = false;  // the next dispatch waits for those before
};

}  // namespace burn::backends::vulkan
