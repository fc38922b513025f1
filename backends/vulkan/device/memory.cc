#include "backends/vulkan/device/memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/gpu/block_size.h"

namespace burn::backends::vulkan {
namespace {

constexpr std::size_t kSmallest = 512;  // block, in bytes
constexpr std::size_t kMaxBytes = std::size_t{1} << 48;

}  // namespace

void MemoryAccount::take(std::uint64_t bytes) {
  const auto now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto before = peak.load(std::memory_order_relaxed);
  while (before < now && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

std::shared_ptr<StreamMemory> DeviceMemory::open_stream(std::shared_ptr<Timeline> timeline,
                                                        std::shared_ptr<Timeline> copies) {
  auto memory = std::make_shared<StreamMemory>(std::move(timeline), std::move(copies));
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

std::uint64_t DeviceMemory::trim(Pages& pages, std::uint64_t keep, std::chrono::milliseconds unused_for) {
  const auto before = pages.page_bytes();
  for (const auto& stream : streams()) {
    const auto reserved = pages.page_bytes();
    if (reserved - std::min<std::uint64_t>(account_.in_use, reserved) <= keep) break;
    stream->trim(unused_for);
    pages.trim();
  }
  pages.trim();  // pages of closed streams
  return before - std::min(before, pages.page_bytes());
}

Result<std::size_t> StreamMemory::block_bytes(std::size_t bytes) const {
  if (bytes > kMaxBytes)
    return resource_exhausted(fmt::format("out of memory: {} bytes are more than any device has", bytes));
  // The rounded block size may exceed the largest allocation of the device even if `bytes` does not.
  const auto most = timeline_->device().facts().max_allocation;
  return bytes > most ? bytes : std::min<std::size_t>(block_size_of(bytes, kSmallest), most);
}

VulkanBufferPtr StreamMemory::buffer(const Piece& piece, std::size_t bytes) {
  timeline_->device().buffers().account().take(bytes);
  return std::make_shared<VulkanBuffer>(shared_from_this(), piece, bytes);
}

Result<VulkanBufferPtr> StreamMemory::allocate(std::size_t bytes) {
  Piece piece;
  if (bytes > 0) {
    BURN_TRY(const auto block_size, block_bytes(bytes));
    BURN_TRY(piece, take(block_size));
  }
  return buffer(piece, bytes);
}

Result<StreamMemory::BufferAndLastUse> StreamMemory::allocate_oldest(std::size_t bytes, std::size_t most_busy_bytes) {
  BURN_TRY(const auto block_size, block_bytes(bytes));
  {
    const std::lock_guard lock(mutex_);
    auto& blocks = idle_[block_size];
    const bool is_full = blocks.size() >= 2 && blocks.size() * block_size > most_busy_bytes;
    if (!blocks.empty()) {
      const auto [piece, since, last_use] = blocks.front();
      const bool is_free = timeline_->is_reached(last_use);
      if (is_free || is_full) {
        blocks.pop_front();
        return BufferAndLastUse{buffer(piece, bytes), is_free ? 0 : last_use};
      }
    }
  }
  BURN_TRY(const auto piece, take_new(block_size));
  return BufferAndLastUse{buffer(piece, bytes), 0};
}

Result<Piece> StreamMemory::take(std::size_t block_size) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = idle_.find(block_size); found != idle_.end() && !found->second.empty()) {
      const auto piece = found->second.back().piece;
      found->second.pop_back();
      return piece;
    }
  }
  return take_new(block_size);
}

Result<Piece> StreamMemory::take_new(std::size_t block_size) {
  auto& pages = timeline_->device().memory();
  auto piece = pages.take(block_size);
  if (piece.ok() || piece.status().code() != StatusCode::resource_exhausted) return piece;
  timeline_->device().buffers().trim(pages, 0, std::chrono::milliseconds(0));
  return pages.take(block_size);
}

void StreamMemory::give_back(const Piece& piece) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_closed_) {
      idle_[piece.bytes].push_back({piece, std::chrono::steady_clock::now(), timeline_->submitted()});
      return;
    }
  }
  wait_for_uses();
  timeline_->device().memory().give_back(piece);
}

std::uint64_t StreamMemory::trim(std::chrono::milliseconds unused_for) {
  const auto until = std::chrono::steady_clock::now() - unused_for;
  std::vector<Piece> released;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : idle_) {
      // The last block is taken first, so the first ones have been idle for the longest time.
      const auto kept = std::ranges::find_if(blocks, [&](const Idle& idle) { return idle.since > until; });
      for (auto it = blocks.begin(); it != kept; ++it) released.push_back(it->piece);
      blocks.erase(blocks.begin(), kept);
    }
  }
  if (released.empty()) return 0;
  wait_for_uses();
  std::uint64_t bytes = 0;
  for (const auto& piece : released) {
    timeline_->device().memory().give_back(piece);
    bytes += piece.bytes;
  }
  return bytes;
}

void StreamMemory::wait_for_uses() {
  (void)timeline_->wait(timeline_->submitted());
  if (copies_) (void)copies_->wait(copies_->submitted());
}

void StreamMemory::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  trim(std::chrono::milliseconds(-1));
}

VulkanBuffer::~VulkanBuffer() {
  memory_->timeline_->device().buffers().account().in_use.fetch_sub(size_, std::memory_order_relaxed);
  if (piece_.page) memory_->give_back(piece_);
}

}  // namespace burn::backends::vulkan
