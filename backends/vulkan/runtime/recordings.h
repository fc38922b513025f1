// Runs of programs as command buffers: recorded at a program's first run, and submitted again by later runs, which
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
  RunTable table;                        // read by the commands
  std::size_t clears = 0;                // words that are cleared if a check has failed
  std::uint64_t number = 0;              // the timeline's number of its last submission
  std::shared_ptr<RecordedTimes> times;  // null unless times are taken
};

// A word of the bindings that is cleared if a check of an earlier run has failed (SystemKernel::clear_marked).
struct WordToClear {
  VkDeviceAddress word = 0, report = 0;
};

// Used by the thread of one stream.
class Recordings {
 public:
  Recordings(std::shared_ptr<Timeline> timeline, CommandBuffers& commands, RunTables& tables, Completions& completions,
             bool keeps);
  ~Recordings();

  // Returns a recording that the device does not use, with an undefined table: a kept one, or a newly recorded one. It
  // clears no words if `clears` is 0, otherwise `clears` words or more: the caller must fill the excess records with
  // copies of others. If steps are left out, the recording is for this run only.
  // Errors: RESOURCE_EXHAUSTED; what the driver says.
  Result<Recording> take(const VulkanExecutable& program, const std::vector<bool>& left_out, std::size_t clears);
  // Submits the recording, as Timeline::submit(). Requires: the table has been written.
  Status submit(const std::shared_ptr<Executable>& executable, Recording recording, bool is_for_one_run, Await after);
  // The size of a program's table followed by the records of `clears` words to clear.
  static std::size_t table_bytes(const VulkanExecutable& program, std::size_t clears);

 private:
  static constexpr std::size_t kMaxPerProgram = 32;  // recordings per program, so that one is free while others run
  static constexpr std::size_t kMax = 256;           // of all programs

  struct Kept {
    std::weak_ptr<const Executable> of;
    std::vector<Recording> idle;  // in the order of submission
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
  Order order_;                                   // programs in the order of their last run
  std::size_t count_ = 0;                         // number of kept recordings
};

}  // namespace burn::backends::vulkan
