// Writes the commands of a run into a command buffer.
#pragma once

#include <vector>

#include "backends/vulkan/device/kernel_times.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "backends/vulkan/runtime/run_tables.h"
#include "backends/vulkan/runtime/vulkan_executable.h"

namespace burn::backends::vulkan {

inline constexpr std::size_t kClearBytes = 16;  // per record of a word to clear (SystemKernel::clear_marked)

// The arguments of all dispatches are in one table.
class Recorder {
 public:
  // `times`: if not null, each dispatch waits for the previous one and is timed.
  Recorder(Device& device, VkCommandBuffer commands, VkDeviceAddress table, RecordedTimes* times = nullptr);

  // Copies the table that the host has written to the memory that dispatches recorded later read; does nothing if they
  // read it where the host writes it.
  void copy_table(const RunTable& table, std::size_t bytes);
  void copy_table(const Piece& from, const Piece& to, std::size_t bytes);
  // Dispatches clear_marked for the `clears` records after the program's table.
  void clear_words(const VulkanExecutable& program, std::size_t clears);
  // Records the dispatches, except those of steps that `left_out` marks (empty: none). Dispatches that are recorded
  // later see what they write.
  void add_levels(const VulkanExecutable& program, const Levels& levels, const std::vector<bool>& left_out);
  // Copies what the checks have found to the report.
  void copy_reports(const VulkanExecutable& program);
  void dispatch(const Dispatch& dispatch);
  // Makes dispatches that are recorded later wait for all earlier ones. Later command buffers wait in any case.
  void end_level() { is_level_over_ = true; }

 private:
  const DeviceFunctions& vk_;
  const VkPipelineLayout layout_;
  const VkCommandBuffer commands_;
  const VkDeviceAddress table_;
  RecordedTimes* const times_;
  VkPipeline bound_ = VK_NULL_HANDLE;
  bool is_level_over_ = false;  // the next dispatch waits for all earlier ones
};

}  // namespace burn::backends::vulkan
