// Pinned host memory, which the device copies from and to directly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "backends/cuda/driver/driver.h"
#include "base/machine.h"

namespace burn::backends::cuda {

class PinnedBlock;

// Keeps freed blocks for reuse, up to a bound: pinning takes long. Thread-safe; lives as long as its last block.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
 public:
  explicit PinnedPool(CUcontext context) : context_(context) {}
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;
  ~PinnedPool();

  // Errors: RESOURCE_EXHAUSTED.
  Result<std::shared_ptr<PinnedBlock>> allocate(std::size_t bytes);

 private:
  friend class PinnedBlock;
  static constexpr std::size_t kMaxIdle = std::size_t{512} << 20;

  void give_back(void* block, std::size_t block_size);
  void release(void* block);

  const CUcontext context_;
  // Three quarters of the memory that the process may use; the rest is for what else sessions keep
  // (Backend::take_host).
  const std::uint64_t limit_ = usable_memory() / 4 * 3;
  const std::size_t most_idle_ = std::min<std::size_t>(kMaxIdle, usable_memory() / 16);
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> idle_;  // by size
  std::size_t idle_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
};

class PinnedBlock final : public HostBlock {
 public:
  PinnedBlock(std::shared_ptr<PinnedPool> pool, void* data, std::size_t size, std::size_t block_size)
      : pool_(std::move(pool)), data_(data), size_(size), block_size_(block_size) {}
  ~PinnedBlock() override;

  std::span<std::byte> bytes() override { return {static_cast<std::byte*>(data_), size_}; }

 private:
  const std::shared_ptr<PinnedPool> pool_;
  void* const data_;
  const std::size_t size_, block_size_;
};

}  // namespace burn::backends::cuda
