// Pools of memory that both the host and the device can access: host memory, which the device copies from and to, or
// device memory, which the host writes. Freed blocks are kept for reuse.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/vulkan/device/device.h"
#include "base/host_block.h"
#include "base/machine.h"

namespace burn::backends::vulkan {

class SharedBlock;

// Thread-safe; lives as long as its last block.
class HostMemory : public std::enable_shared_from_this<HostMemory> {
 public:
  explicit HostMemory(const std::shared_ptr<Device>& device) : HostMemory(device, device->host_pages()) {}
  // `pages`: pages of the device, which must be mapped.
  HostMemory(std::shared_ptr<Device> device, Pages& pages) : device_(std::move(device)), pages_(pages) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  // Errors: RESOURCE_EXHAUSTED.
  Result<std::shared_ptr<SharedBlock>> allocate(std::size_t bytes);

 private:
  friend class SharedBlock;

  void give_back(const Piece& piece);

  const std::shared_ptr<Device> device_;  // owns the pages
  Pages& pages_;
  // Three quarters of the memory that the process may use; the rest is for what else sessions keep
  // (Backend::take_host).
  const std::uint64_t limit_ = usable_memory() / 4 * 3;
  // The most bytes of free blocks that are kept. Computed once, as the system answers from files.
  const std::uint64_t max_idle_ = std::min<std::uint64_t>(std::uint64_t{512} << 20, limit_ / 12);
  std::mutex mutex_;
  std::map<std::size_t, std::vector<Piece>> idle_;  // by size
  std::uint64_t idle_bytes_ = 0, taken_bytes_ = 0;
};

class SharedBlock final : public HostBlock {
 public:
  SharedBlock(std::shared_ptr<HostMemory> memory, const Piece& piece, std::size_t size)
      : memory_(std::move(memory)), piece_(piece), size_(size) {}
  ~SharedBlock() override { memory_->give_back(piece_); }

  std::span<std::byte> bytes() override { return {piece_.mapped(), size_}; }
  const Piece& piece() const { return piece_; }

 private:
  const std::shared_ptr<HostMemory> memory_;
  const Piece piece_;
  const std::size_t size_;
};

}  // namespace burn::backends::vulkan
