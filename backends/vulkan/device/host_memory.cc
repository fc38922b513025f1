#include "backends/vulkan/device/host_memory.h"

#include <fmt/format.h>

#include "backends/gpu/block_size.h"

namespace burn::backends::vulkan {
namespace {

constexpr std::size_t kSmallest = 4096;  // block, in bytes
constexpr std::size_t kMaxBytes = std::size_t{1} << 46;

}  // namespace

Result<std::shared_ptr<SharedBlock>> HostMemory::allocate(std::size_t bytes) {
  if (bytes > kMaxBytes) return resource_exhausted(fmt::format("out of memory: {} bytes of host memory", bytes));
  const auto block_size = block_size_of(bytes, kSmallest);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = idle_.find(block_size); found != idle_.end() && !found->second.empty()) {
      const auto piece = found->second.back();
      found->second.pop_back();
      idle_bytes_ -= block_size;
      taken_bytes_ += block_size;
      return std::make_shared<SharedBlock>(shared_from_this(), piece, bytes);
    }
    if (taken_bytes_ > limit_ || block_size > limit_ - taken_bytes_) {
      return resource_exhausted(fmt::format("out of memory: {} bytes of host memory wanted, {} of {} in use",
                                            block_size, taken_bytes_, limit_));
    }
    taken_bytes_ += block_size;
  }
  const auto piece = pages_.take(block_size);
  if (!piece.ok()) {
    const std::lock_guard lock(mutex_);
    taken_bytes_ -= block_size;
    return piece.status();
  }
  return std::make_shared<SharedBlock>(shared_from_this(), *piece, bytes);
}

void HostMemory::give_back(const Piece& piece) {
  {
    const std::lock_guard lock(mutex_);
    taken_bytes_ -= piece.bytes;
    if (idle_bytes_ + piece.bytes <= max_idle_) {
      idle_[piece.bytes].push_back(piece);
      idle_bytes_ += piece.bytes;
      return;
    }
  }
  pages_.give_back(piece);
}

HostMemory::~HostMemory() {
  for (const auto& [size, pieces] : idle_) {
    for (const auto& piece : pieces) pages_.give_back(piece);
  }
}

}  // namespace burn::backends::vulkan
