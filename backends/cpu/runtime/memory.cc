#include "backends/cpu/runtime/memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/runtime/kept_tables.h"
#include "base/pages.h"

namespace burn::backends::cpu {
namespace {

// With a sanitizer every block is freed at once, so that uses after free are found.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

// Size classes: eight per power of two, so at most an eighth of a block is unused. The first eight are multiples of the
// alignment.
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

// Large blocks are separate mappings, on large pages if the system has them: fewer TLB misses, and a page fault every 2
// MiB instead of every 4 KiB. Freed, they return to the system at once; the heap would keep them, and holes that begin
// at a large page fit few other blocks.
bool is_mapped(std::size_t bytes) { return kKeepsBlocks && bytes >= 2 * kLargePage; }

std::byte* new_block(std::size_t bytes) {
  if (is_mapped(bytes)) return map_pages(bytes);
  void* block = nullptr;  // aligned_alloc would want a multiple of the alignment
  if (posix_memalign(&block, Pool::kAlignment, bytes) != 0) return nullptr;
  return static_cast<std::byte*>(block);
}

void free_block(std::byte* block, std::size_t bytes) {
  if (is_mapped(bytes)) return unmap_pages(block, bytes);
  std::free(block);
}

constexpr std::uint64_t kSpare = std::uint64_t{512} << 20;  // beyond the peak, so that small programs keep all blocks
constexpr std::int64_t kStretch = 30'000;  // ms: how long a peak counts, at least once and at most twice
constexpr std::uint64_t kTrimmedAtOnce = std::uint64_t{64} << 20;  // under one lock, before other threads may allocate

}  // namespace

void PoolReservation::shrink(std::uint64_t bytes) {
  if (!pool_ || bytes >= bytes_) return;
  pool_->release_external(bytes_ - bytes);
  bytes_ = bytes;
}

Pool::Pool(const Config& config)
    : config_(config),
      stretch_began_(coarse_milliseconds()),
      tables_(std::make_unique<KeptTables>(*this, config.limit / 16)) {}

Pool::~Pool() {
  tables_->drop_all();
  drop_coldest(0);
}

Result<CpuBufferPtr> Pool::allocate(std::size_t bytes) {
  constexpr std::size_t kSane = std::size_t{1} << 62;  // beyond it sizes would overflow
  auto buffer = std::make_shared<CpuBuffer>(shared_from_this(), bytes);
  if (bytes < kSane) buffer->data_ = take(size_class(bytes));
  if (bytes < kSane && !buffer->data_ && tables_->drop_all() > 0) buffer->data_ = take(size_class(bytes));
  if (buffer->data_ && config_.fill) std::memset(buffer->data_, *config_.fill, class_bytes(size_class(bytes)));
  if (buffer->data_) {
    if (auto meter = MeterScope::current()) {
      meter->add(static_cast<std::int64_t>(bytes));
      buffer->count_end(std::move(meter));
    }
    return buffer;
  }
  return resource_exhausted(
      fmt::format("out of memory: {} bytes wanted, {} of {} in use", bytes, taken(), config_.limit));
}

std::byte* Pool::take(std::size_t size_class) {
  const auto bytes = class_bytes(size_class);
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[size_class];
  std::byte* block = nullptr;
  if (!idle.empty()) {
    block = idle.back().block;
    idle.pop_back();
    idle_bytes_ -= bytes;
  } else {
    if (bytes > room()) return nullptr;
    if (bytes + idle_bytes_ > room()) drop_coldest(room() - bytes);
    block = new_block(bytes);
    if (!block) return nullptr;
    stats_.reserved += bytes;
  }
  stats_.in_use += bytes;
  if (stats_.in_use > recent_peak_) {
    recent_peak_ = stats_.in_use;
    stats_.peak = std::max(stats_.peak, stats_.in_use);
  }
  return block;
}

std::uint64_t Pool::room() const {
  const auto taken = stats_.in_use + external_;
  return taken < config_.limit ? config_.limit - taken : 0;
}

Result<PoolReservation> Pool::reserve_external(std::uint64_t bytes) {
  BURN_RETURN_IF_ERROR(charge_external(bytes));
  return PoolReservation(*this, bytes);
}

Status Pool::charge_external(std::uint64_t bytes) {
  auto status = try_charge_external(bytes);
  return status.ok() || tables_->drop_all() == 0 ? status : try_charge_external(bytes);
}

Status Pool::try_charge_external(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > room()) {
    return resource_exhausted(fmt::format("out of memory: {} bytes wanted beside tensors, {} of {} in use", bytes,
                                          stats_.in_use + external_, config_.limit));
  }
  if (bytes + idle_bytes_ > room()) drop_coldest(room() - bytes);
  external_ += bytes;
  return {};
}

void Pool::release_external(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  external_ -= bytes;
}

void Pool::give_back(std::byte* block, std::size_t size_class) {
  const auto bytes = class_bytes(size_class);
  const std::lock_guard lock(mutex_);
  stats_.in_use -= bytes;
  idle_bytes_ += bytes;
  try {
    idle_[size_class].push_back({block, coarse_milliseconds()});
  } catch (const std::bad_alloc&) {  // no memory to remember it
    free_block(block, bytes);
    idle_bytes_ -= bytes;
    stats_.reserved -= bytes;
  }
  if (const auto allowed = max_idle_bytes(); idle_bytes_ > allowed) drop_coldest(allowed);
}

std::uint64_t Pool::max_idle_bytes() const {
  if (!kKeepsBlocks) return 0;
  const auto peak = std::max(recent_peak_, former_peak_);
  return std::min(config_.idle_limit, peak - stats_.in_use + std::max(peak / 2, kSpare));
}

void Pool::drop_coldest(std::uint64_t idle_allowed) {
  while (idle_bytes_ > idle_allowed) {
    auto* coldest = &idle_.front();
    for (auto& idle : idle_) {
      if (!idle.empty() && (coldest->empty() || idle.back().since <= coldest->back().since)) coldest = &idle;
    }
    drop(static_cast<std::size_t>(coldest - idle_.data()), coldest->end() - 1, coldest->end());
  }
}

std::uint64_t Pool::drop_unused(std::uint64_t idle_allowed, std::int64_t until, std::uint64_t at_once) {
  std::uint64_t freed = 0;
  for (std::size_t i = idle_.size(); i-- > 0;) {  // large blocks first
    auto& idle = idle_[i];
    auto last = idle.begin();
    const auto before = freed;
    while (last != idle.end() && last->since <= until && idle_bytes_ > idle_allowed + (freed - before) &&
           freed < at_once) {
      freed += class_bytes(i);
      ++last;
    }
    drop(i, idle.begin(), last);
    if (freed >= at_once || idle_bytes_ <= idle_allowed) break;
  }
  return freed;
}

void Pool::drop(std::size_t size_class, FreeList::iterator first, FreeList::iterator last) {
  if (first == last) return;  // checked first: the last classes would have sizes of more than 64 bits
  const auto bytes = class_bytes(size_class);
  for (auto it = first; it != last; ++it) free_block(it->block, bytes);
  const auto freed = bytes * static_cast<std::uint64_t>(last - first);
  idle_bytes_ -= freed;
  stats_.reserved -= freed;
  idle_[size_class].erase(first, last);
}

void Pool::forget_old_peak(std::int64_t now) {
  if (now - stretch_began_ < kStretch) return;
  former_peak_ = std::exchange(recent_peak_, stats_.in_use);
  stretch_began_ = now;
}

std::uint64_t Pool::trim(std::uint64_t keep, std::chrono::milliseconds unused_for) {
  const auto now = coarse_milliseconds();
  for (std::uint64_t freed = tables_->drop_unused(now - unused_for.count());;) {
    const std::lock_guard lock(mutex_);
    forget_old_peak(now);
    const auto some = drop_unused(keep, now - unused_for.count(), kTrimmedAtOnce);
    if (some == 0) return freed;
    freed += some;
  }
}

std::uint64_t Pool::taken() const {
  const std::lock_guard lock(mutex_);
  return stats_.in_use + external_;
}

MemoryStats Pool::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

CpuBuffer::~CpuBuffer() {
  if (data_) pool_->give_back(data_, size_class(size_));
  if (meter_) meter_->add(-static_cast<std::int64_t>(size_));
}

}  // namespace burn::backends::cpu
