// Runs of programs as command buffers: recorded when a program is run first, and submitted again by later runs, which
// write their addresses and numbers into the table that the commands read.
#pragma once

#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/vulkan/device/kernel_times.h"
#include "backends/vulkan/runtime/command_buffers.h"
#include "backends/vulkan/runtime/completions.h"
#include "backends/vulkan/runtime/run_tables.h"
#include "backends/vulkan/runtime/vulkan_executable.h"

namespace burn::backends::vulkan {

struct Recording {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  RunTable table;                        // that the commands read
  std::size_t clears = 0;                // words that they clear where a check has failed
  std::uint64_t number = 0;              // of the timeline, of its last submission
  std::shared_ptr<RecordedTimes> times;  // where they are wanted
};

// A word of the bindings that a check of an earlier run clears, if it has found something (SystemKernel::clear_marked).
struct Clear {
  VkDeviceAddress word = 0, report = 0;
};

// Of one stream, from its thread.
class Recordings {
 public:
  Recordings(std::shared_ptr<Timeline> timeline, CommandBuffers& commands, RunTables& tables, Completions& completions,
             bool keeps);
  ~Recordings();

  // One that the device is not at, with an undefined table: a kept one, or a new one that has been recorded. It clears
  // no words, or `clears` or more: records of those beyond have to repeat others. What is said of steps that are left
  // out holds for this run alone, and so does the recording. Errors: RESOURCE_EXHAUSTED; what the driver says.
  Result<Recording> take(const VulkanExecutable& program, const std::vector<bool>& left_out, std::size_t clears);
  // Submits it, as Timeline::submit(). The table has to be written.
  Status submit(const std::shared_ptr<Executable>& executable, Recording recording, bool is_for_one_run, Await after);
  // The table of a program with so many words to clear: their records come last.
  static std::size_t table_bytes(const VulkanExecutable& program, std::size_t clears);

 private:
  static constexpr std::size_t kMaxOfOne = 32;  // recordings of a program, so that one is free while others are run
  static constexpr std::size_t kMax = 256;      // of all programs

  struct Kept {
    std::weak_ptr<const Executable> of;
    std::vector<Recording> idle;  // submitted, the longest ago first
  };
  using Order = std::list<std::uint64_t>;

  Status record(const VulkanExecutable& program, const std::vector<bool>& left_out, std::size_t clears,
                const Recording& recording);
  void drop(Recording recording);
  void drop_oldest();

  const std::shared_ptr<Timeline> timeline_;
  CommandBuffers& commands_;
  RunTables& tables_;
  Completions& completions_;
  const bool keeps_, takes_times_;
  std::unordered_map<std::uint64_t, Kept> kept_;  // by program
  Order order_;                                   // of programs; what ran last is at the end
  std::size_t count_ = 0;                         // of kept recordings
};

}  // namespace burn::backends::vulkan
