// The memory of the temporary values of a stream's runs, in several pages if the device limits the size of an
// allocation.
#pragma once

#include <span>
#include <vector>

#include "backends/vulkan/device/memory.h"

namespace burn::backends::vulkan {

// Shared by all runs of the stream in turn: it grows to the need of the largest program, and is not freed while the
// stream is open.
class Arena {
 public:
  // `page`: bytes, as given to compile::plan_arena(); 0: one piece.
  explicit Arena(std::uint64_t page) : page_(page) {}

  // Ensures memory for offsets below `bytes`. The previous contents are lost; pages that runs still use are reused by
  // this stream only. Errors: RESOURCE_EXHAUSTED with the numbers; the arena is empty then.
  Status reserve(StreamMemory& memory, std::uint64_t bytes);
  void clear();

  // The memory at an offset of a program's plan. Requires: the offset is below the reserved size.
  Piece at(std::uint64_t offset) const;
  // The device addresses of offsets. 0 if nothing was reserved: no program uses the offsets then.
  std::vector<std::int64_t> addresses(std::span<const std::int64_t> offsets) const;

 private:
  const std::uint64_t page_;
  std::vector<VulkanBufferPtr> pages_;  // all but the last have page_ bytes
};

}  // namespace burn::backends::vulkan
