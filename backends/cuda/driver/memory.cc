#include "backends/cuda/driver/memory.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "backends/gpu/block_size.h"

namespace burn::backends::cuda {
namespace {

constexpr std::size_t kSmallest = 512;  // block, in bytes
constexpr std::size_t kMaxBytes = std::size_t{1} << 48;

Status check_size(std::size_t bytes) {
  if (bytes <= kMaxBytes) return {};
  return resource_exhausted(fmt::format("out of memory: {} bytes are more than any device has", bytes));
}

}  // namespace

void MemoryAccount::take(std::uint64_t bytes) {
  const auto now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto before = peak.load(std::memory_order_relaxed);
  while (before < now && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

// --- of the device ---------------------------------------------------------------------------------------------------

std::shared_ptr<StreamMemory> DeviceMemory::open_stream(std::shared_ptr<const std::atomic<std::uint64_t>> uses) {
  auto memory = std::make_shared<StreamMemory>(shared_from_this(), std::move(uses));
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  streams_.push_back(memory);
  return memory;
}

std::vector<std::shared_ptr<StreamMemory>> DeviceMemory::streams() {
  std::vector<std::shared_ptr<StreamMemory>> all;
  const std::lock_guard lock(mutex_);
  for (const auto& weak : streams_) {
    if (auto stream = weak.lock()) all.push_back(std::move(stream));
  }
  return all;
}

std::uint64_t DeviceMemory::trim(std::uint64_t keep, std::chrono::milliseconds unused_for) {
  std::uint64_t freed = 0;
  for (const auto& stream : streams()) {
    if (account_.reserved - std::min<std::uint64_t>(account_.in_use, account_.reserved) <= keep) break;
    freed += stream->trim(unused_for);
  }
  return freed;
}

// --- of a stream -----------------------------------------------------------------------------------------------------

Result<CudaBufferPtr> StreamMemory::allocate(std::size_t bytes) {
  BURN_RETURN_IF_ERROR(check_size(bytes));
  BURN_TRY(const auto block, take(bytes));
  return buffer(block, bytes);
}

Result<StreamMemory::BufferAndLastUse> StreamMemory::allocate_oldest(std::size_t bytes, std::uint64_t done,
                                                                     std::size_t most_busy_bytes) {
  constexpr std::size_t kFewest = 2;
  BURN_RETURN_IF_ERROR(check_size(bytes));
  const auto block_size = block_size_of(bytes, kSmallest);
  std::optional<Idle> found;
  if (bytes > 0) {
    const std::lock_guard lock(mutex_);
    if (const auto idle = idle_.find(block_size); idle != idle_.end() && !idle->second.empty()) {
      auto& blocks = idle->second;
      const bool are_many = blocks.size() >= kFewest && blocks.size() >= most_busy_bytes / block_size;
      if (blocks.front().last_use <= done || are_many) {
        found = blocks.front();
        blocks.pop_front();
      }
    }
  }
  if (found) return BufferAndLastUse{buffer(found->block, bytes), found->last_use};
  CUdeviceptr block = 0;
  if (bytes > 0) {
    BURN_TRY(block, take_new(bytes));
  }
  return BufferAndLastUse{buffer(block, bytes), 0};
}

CudaBufferPtr StreamMemory::buffer(CUdeviceptr block, std::size_t bytes) {
  device_->account().take(bytes);
  return std::make_shared<CudaBuffer>(shared_from_this(), block, bytes);
}

Result<CUdeviceptr> StreamMemory::take(std::size_t bytes) {
  if (bytes == 0) return CUdeviceptr{0};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = idle_.find(block_size_of(bytes, kSmallest));
        found != idle_.end() && !found->second.empty()) {
      const auto block = found->second.back().block;
      found->second.pop_back();
      return block;
    }
  }
  return take_new(bytes);
}

Result<CUdeviceptr> StreamMemory::take_new(std::size_t bytes) {
  const auto block_size = block_size_of(bytes, kSmallest);
  driver().cuCtxSetCurrent(device_->context());
  CUdeviceptr block = 0;
  const auto allocate = [&] {
    const std::uint64_t reserved = device_->account().reserved, limit = device_->limit();
    const bool fits = block_size <= limit && reserved <= limit - block_size;
    return fits ? driver().cuMemAlloc(&block, block_size) : CUDA_ERROR_OUT_OF_MEMORY;
  };
  auto result = allocate();
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    device_->trim(0, std::chrono::milliseconds(0));
    result = allocate();
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free = 0, total = 0;
    driver().cuMemGetInfo(&free, &total);
    if (device_->limit() < total)
      return resource_exhausted(
          fmt::format("out of memory: {} bytes are wanted, {} of {} (BURN_DEVICE_MEMORY) are taken", block_size,
                      device_->account().reserved.load(), device_->limit()));
    return resource_exhausted(
        fmt::format("out of memory: {} bytes are wanted, {} of the device's {} are free", block_size, free, total));
  }
  BURN_RETURN_IF_ERROR(check(result, "cuMemAlloc"));
  device_->account().reserved += block_size;
  return block;
}

void StreamMemory::give_back(CUdeviceptr block, std::size_t block_size) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_closed_) {
      idle_[block_size].push_back({block, std::chrono::steady_clock::now(), uses_ ? uses_->load() : 0});
      return;
    }
  }
  release(block, block_size);
}

void StreamMemory::release(CUdeviceptr block, std::size_t block_size) {
  driver().cuCtxSetCurrent(device_->context());
  driver().cuMemFree(block);
  device_->account().reserved -= block_size;
}

std::uint64_t StreamMemory::trim(std::chrono::milliseconds unused_for) {
  const auto until = std::chrono::steady_clock::now() - unused_for;
  std::vector<std::pair<CUdeviceptr, std::size_t>> released;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : idle_) {
      // The last block is taken first, so the first ones have been idle for the longest time.
      const auto kept = std::ranges::find_if(blocks, [&](const Idle& idle) { return idle.since > until; });
      for (auto it = blocks.begin(); it != kept; ++it) released.emplace_back(it->block, size);
      blocks.erase(blocks.begin(), kept);
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [block, size] : released) {
    release(block, size);  // waits for the device's pending work
    bytes += size;
  }
  return bytes;
}

void StreamMemory::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  trim(std::chrono::milliseconds(-1));
}

StreamMemory::~StreamMemory() { close(); }

CudaBuffer::~CudaBuffer() {
  memory_->device_->account().give_back(size_);
  if (address_) memory_->give_back(address_, block_size_of(size_, kSmallest));
}

}  // namespace burn::backends::cuda
