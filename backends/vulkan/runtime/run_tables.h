// Where the tables of runs lie: in memory of the device that the host writes, where there is some, so that a run begins
// with its first kernel; else in memory that the device copies from the host's first.
#pragma once

#include <memory>
#include <utility>

#include "backends/vulkan/device/host_memory.h"
#include "backends/vulkan/device/memory.h"

namespace burn::backends::vulkan {

// A table of one run at a time. What it holds is kept until the device has done the run.
struct RunTable {
  std::shared_ptr<SharedBlock> written;  // by the host, which must not read it: that may be slow
  VulkanBufferPtr copy;                  // of `written`, made by the device before it reads; null: it reads `written`

  VkDeviceAddress address() const { return copy ? copy->address() : written->piece().address(); }
};

// Of one stream, from its thread.
class RunTables {
 public:
  // `written`: memory of the device that the host writes (Device::written_pages()); null: there is none.
  RunTables(StreamMemory& memory, HostMemory& host, std::shared_ptr<HostMemory> written)
      : memory_(memory), host_(host), written_(std::move(written)) {}

  // Undefined contents. Errors: RESOURCE_EXHAUSTED.
  Result<RunTable> allocate(std::size_t bytes) {
    RunTable table;
    if (written_) {
      if (auto block = written_->allocate(bytes); block.ok()) {
        table.written = *std::move(block);
        return table;
      }
    }
    BURN_TRY(table.written, host_.allocate(bytes));
    BURN_TRY(table.copy, memory_.allocate(bytes));
    return table;
  }

 private:
  StreamMemory& memory_;
  HostMemory& host_;
  const std::shared_ptr<HostMemory> written_;
};

}  // namespace burn::backends::vulkan
