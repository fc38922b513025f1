// The memory of temporary values of a stream's runs, in pages where a device allocates no more than so much at once.
#pragma once

#include <span>
#include <vector>

#include "backends/vulkan/device/memory.h"

namespace burn::backends::vulkan {

// Every run of the stream uses it in turn: it grows to what the largest program wants, and is never given back while
// the stream is open.
class Arena {
 public:
  // `page`: bytes, as compile::plan_arena() had it; 0: one piece.
  explicit Arena(std::uint64_t page) : page_(page) {}

  // Room for offsets below `bytes`. What it had is lost; what runs still use of that is given to this stream alone.
  // Errors: RESOURCE_EXHAUSTED with the numbers; it is empty then.
  Status reserve(StreamMemory& memory, std::uint64_t bytes);
  void clear();

  // Where an offset of a program's plan lies. Requires: it is below what was reserved.
  Piece at(std::uint64_t offset) const;
  // The same as addresses. Of offsets that no program may use (nothing was reserved): 0.
  std::vector<std::int64_t> addresses(std::span<const std::int64_t> offsets) const;

 private:
  const std::uint64_t page_;
  std::vector<VulkanBufferPtr> pages_;  // all but the last have page_ bytes
};

}  // namespace burn::backends::vulkan
