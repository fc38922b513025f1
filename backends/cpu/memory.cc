#include "backends/cpu/memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace burn::backends::cpu {
namespace {

// With a sanitizer every block goes back at once, so that it sees uses after the end.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

// Sizes come in classes, eight per power of two, so at most an eighth of a block lies idle. The first eight are
// multiples of the alignment.
std::size_t size_class(std::size_t bytes) {
  const std::size_t last = std::max<std::size_t>(bytes, 1) - 1;
  if (last < 512) return last / 64;
  const auto log2 = static_cast<std::size_t>(std::bit_width(last)) - 1;
  return (log2 - 8) * 8 + (last >> (log2 - 3)) - 8;
}

std::size_t class_bytes(std::size_t size_class) {
  if (size_class < 8) return (size_class + 1) * 64;
  return (size_class % 8 + 9) << (size_class / 8 + 5);
}

// Large blocks lie on huge pages, where the system has them: fewer misses of the page table's cache, and a first touch
// every 2 MiB instead of every 4 KiB.
std::byte* new_block(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const bool is_large = bytes >= 2 * kHugePage;
  void* block = nullptr;  // aligned_alloc would want a multiple of the alignment
  if (posix_memalign(&block, is_large ? kHugePage : Pool::kAlignment, bytes) != 0) return nullptr;
  if (is_large) madvise(block, bytes, MADV_HUGEPAGE);  // a wish: it may fail
  return static_cast<std::byte*>(block);
}

}  // namespace

std::uint64_t system_memory() {
  std::uint64_t memory = machine_memory(), share = 0;
  // A file that is not there or says "max" sets no limit.
  if (std::ifstream file{"/sys/fs/cgroup/memory.max"}; file >> share) memory = std::min(memory, share);
  return memory;
}

Pool::~Pool() { trim(0); }

Result<CpuBufferPtr> Pool::allocate(std::size_t bytes) {
  constexpr std::size_t kSane = std::size_t{1} << 62;  // beyond it sizes would overflow
  auto buffer = std::make_shared<CpuBuffer>(shared_from_this(), bytes);
  if (bytes < kSane) buffer->data_ = take(size_class(bytes));
  if (buffer->data_) return buffer;
  return resource_exhausted(
      fmt::format("out of memory: {} bytes wanted, {} of {} in use", bytes, stats().in_use, config_.limit));
}

std::byte* Pool::take(std::size_t size_class) {
  const auto bytes = class_bytes(size_class);
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[size_class];
  std::byte* block = nullptr;
  if (!idle.empty()) {
    block = idle.back();
    idle.pop_back();
    idle_bytes_ -= bytes;
  } else {
    if (stats_.in_use > config_.limit || bytes > config_.limit - stats_.in_use) return nullptr;
    if (bytes > config_.limit - stats_.reserved) trim(config_.limit - stats_.in_use - bytes);
    block = new_block(bytes);
    if (!block) return nullptr;
    stats_.reserved += bytes;
  }
  stats_.in_use += bytes;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  return block;
}

void Pool::give_back(std::byte* block, std::size_t size_class) {
  const auto bytes = class_bytes(size_class);
  const std::lock_guard lock(mutex_);
  stats_.in_use -= bytes;
  idle_bytes_ += bytes;
  try {
    idle_[size_class].push_back(block);
  } catch (const std::bad_alloc&) {  // no room to remember it
    std::free(block);
    idle_bytes_ -= bytes;
    stats_.reserved -= bytes;
  }
  trim(kKeepsBlocks ? config_.idle_limit : 0);
}

void Pool::trim(std::uint64_t idle_allowed) {
  for (std::size_t i = idle_.size(); i-- > 0 && idle_bytes_ > idle_allowed;) {  // large blocks first
    while (!idle_[i].empty() && idle_bytes_ > idle_allowed) {
      std::free(idle_[i].back());
      idle_[i].pop_back();
      idle_bytes_ -= class_bytes(i);
      stats_.reserved -= class_bytes(i);
    }
  }
}

MemoryStats Pool::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

CpuBuffer::~CpuBuffer() {
  if (data_) pool_->give_back(data_, size_class(size_));
}

}  // namespace burn::backends::cpu
