// The memory of the tables of runs: device memory that the host writes, if there is any, so that a run begins with its
// first kernel; otherwise host memory, which the device copies to device memory first.
#pragma once

#include <memory>
#include <utility>

#include "backends/vulkan/device/host_memory.h"
#include "backends/vulkan/device/memory.h"

namespace burn::backends::vulkan {

// A table that is used by one run at a time. Its memory is kept until the device has done the run.
struct RunTable {
  std::shared_ptr<SharedBlock> written;  // written by the host, which must not read it: that may be slow
  VulkanBufferPtr copy;  // a copy of `written` that the device makes and reads; null: it reads `written`

  VkDeviceAddress address() const { return copy ? copy->address() : written->piece().address(); }
};

// Used by the thread of one stream.
class RunTables {
 public:
  // `written`: device memory that the host writes (Device::written_pages()); null: there is none.
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
