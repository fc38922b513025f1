#include "backends/cuda/driver/pinned.h"

#include <fmt/format.h>

#include "backends/gpu/block_size.h"

namespace burn::backends::cuda {
namespace {

constexpr std::size_t kSmallest = 4096;  // block, in bytes
constexpr std::size_t kMaxBytes = std::size_t{1} << 46;

}  // namespace

Result<std::shared_ptr<PinnedBlock>> PinnedPool::allocate(std::size_t bytes) {
  if (bytes > kMaxBytes) return resource_exhausted(fmt::format("out of memory: {} bytes of pinned memory", bytes));
  const auto block_size = block_size_of(bytes, kSmallest);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = idle_.find(block_size); found != idle_.end() && !found->second.empty()) {
      auto* block = found->second.back();
      found->second.pop_back();
      idle_bytes_ -= block_size;
      taken_bytes_ += block_size;
      return std::make_shared<PinnedBlock>(shared_from_this(), block, bytes, block_size);
    }
    // Pinned pages cannot be swapped out: beyond the memory that the process may use, the system would kill it.
    if (taken_bytes_ > limit_ || block_size > limit_ - taken_bytes_) {
      return resource_exhausted(fmt::format("out of memory: {} bytes of pinned memory wanted, {} of {} in use",
                                            block_size, taken_bytes_, limit_));
    }
    taken_bytes_ += block_size;
  }
  driver().cuCtxSetCurrent(context_);
  void* block = nullptr;
  const auto result = driver().cuMemHostAlloc(&block, block_size, CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS) {
    const std::lock_guard lock(mutex_);
    taken_bytes_ -= block_size;
    return resource_exhausted(fmt::format("out of memory: {} bytes of pinned memory are not to be had", block_size));
  }
  return std::make_shared<PinnedBlock>(shared_from_this(), block, bytes, block_size);
}

void PinnedPool::give_back(void* block, std::size_t block_size) {
  {
    const std::lock_guard lock(mutex_);
    taken_bytes_ -= block_size;
    if (idle_bytes_ + block_size <= most_idle_) {
      idle_[block_size].push_back(block);
      idle_bytes_ += block_size;
      return;
    }
  }
  release(block);
}

void PinnedPool::release(void* block) {
  driver().cuCtxSetCurrent(context_);
  driver().cuMemFreeHost(block);
}

PinnedPool::~PinnedPool() {
  for (const auto& [size, blocks] : idle_) {
    for (auto* block : blocks) release(block);
  }
}

PinnedBlock::~PinnedBlock() { pool_->give_back(data_, block_size_); }

}  // namespace burn::backends::cuda
