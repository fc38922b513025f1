// Host memory of the CPU backend: aligned blocks from a caching pool that counts what is in use.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "base/machine.h"

namespace burn::backends::cpu {

class CpuBuffer;
class KeptTables;
class Pool;

// Bytes that are counted by a pool in addition to its blocks while this lives. The pool must outlive it.
class PoolReservation {
 public:
  PoolReservation() = default;
  PoolReservation(Pool& pool, std::uint64_t bytes) : pool_(&pool), bytes_(bytes) {}
  PoolReservation(PoolReservation&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PoolReservation& operator=(PoolReservation&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PoolReservation() { shrink(0); }

  std::uint64_t bytes() const { return bytes_; }
  void shrink(std::uint64_t bytes);

 private:
  Pool* pool_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// The bytes that a run has in use beyond those at its start, and their maximum. Thread-safe.
class RunMeter {
 public:
  void add(std::int64_t bytes) {
    const auto now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    auto before = peak_.load(std::memory_order_relaxed);
    while (before < now && !peak_.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
  }
  std::uint64_t peak() const { return static_cast<std::uint64_t>(peak_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<std::int64_t> in_use_ = 0, peak_ = 0;
};

// While it lives, what this thread allocates from pools is counted by `meter`.
class MeterScope {
 public:
  explicit MeterScope(std::shared_ptr<RunMeter> meter) : meter_(std::move(meter)) { current_ = this; }
  ~MeterScope() { current_ = nullptr; }
  MeterScope(const MeterScope&) = delete;
  MeterScope& operator=(const MeterScope&) = delete;

  static std::shared_ptr<RunMeter> current() { return current_ ? current_->meter_ : nullptr; }

 private:
  static inline constinit thread_local MeterScope* current_ = nullptr;
  const std::shared_ptr<RunMeter> meter_;
};

// Allocates blocks, and keeps freed ones for reuse. Thread-safe; lives as long as its last buffer.
//
// What it keeps is bounded. A program that repeats itself finds all its blocks again, but one whose sizes change all
// the time would leave blocks of every size behind. So what is reserved stays within one and a half of the recent
// maximum in use (or 512 MiB beyond it): the sizes that have not been freed for the longest time are dropped first. And
// trim() returns what has not been used for a while to the system.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  struct Config {
    std::uint64_t limit = usable_memory();   // bytes reserved at most
    std::uint64_t idle_limit = limit;        // of these, maximum bytes kept for reuse
    std::optional<unsigned char> fill = {};  // for tests: every block is filled with it when it is allocated
  };

  static constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

  explicit Pool(const Config& config);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Contents are undefined. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<std::shared_ptr<CpuBuffer>> allocate(std::size_t bytes);

  // Counts memory that is not the pool's against the same limit, before it is allocated; idle blocks make room for it.
  // Errors: RESOURCE_EXHAUSTED, and nothing is counted.
  Status charge_external(std::uint64_t bytes);
  void release_external(std::uint64_t bytes);
  Result<PoolReservation> reserve_external(std::uint64_t bytes);

  // Tables that kernels have computed for some size, shared by all programs.
  KeptTables& tables() { return *tables_; }

  // As Backend::trim(). To be called every few seconds: its calls also limit what counts as recent.
  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for);

  const Config& config() const { return config_; }
  MemoryStats stats() const;
  std::uint64_t taken() const;  // counted against the limit: blocks in use and external bytes

 private:
  friend class CpuBuffer;

  struct FreeBlock {
    std::byte* block;
    std::int64_t since;  // when it was freed, in coarse milliseconds
  };
  using FreeList = std::vector<FreeBlock>;  // in the order in which they were freed; the last is reused first

  std::byte* take(std::size_t size_class);  // null: no memory
  Status try_charge_external(std::uint64_t bytes);
  std::uint64_t room() const;  // bytes left for blocks besides those in use. Requires: mutex_ is held.
  void give_back(std::byte* block, std::size_t size_class);

  // These require: mutex_ is held.
  std::uint64_t max_idle_bytes() const;           // that are allowed now
  void drop_coldest(std::uint64_t idle_allowed);  // sizes that have not been freed for the longest time first
  std::uint64_t drop_unused(std::uint64_t idle_allowed, std::int64_t until, std::uint64_t at_once);
  void drop(std::size_t size_class, FreeList::iterator first, FreeList::iterator last);
  void forget_old_peak(std::int64_t now);

  const Config config_;
  mutable std::mutex mutex_;
  std::array<FreeList, std::size_t{64} * 8> idle_;  // by size class
  std::uint64_t idle_bytes_ = 0;
  std::uint64_t external_ = 0;
  std::uint64_t recent_peak_ = 0, former_peak_ = 0;  // highest in_use in this period and the one before
  std::int64_t stretch_began_;
  MemoryStats stats_;
  const std::unique_ptr<KeptTables> tables_;  // destroyed first: what it keeps is counted here
};

class CpuBuffer final : public Buffer {
 public:
  // Empty until the pool fills in its block.
  CpuBuffer(std::shared_ptr<Pool> pool, std::size_t size) : pool_(std::move(pool)), size_(size) {}
  ~CpuBuffer() override;

  std::byte* data() const { return data_; }
  std::size_t size() const override { return size_; }
  // The meter subtracts the bytes when the buffer is destroyed. Requires: one owner.
  void count_end(std::shared_ptr<RunMeter> meter) { meter_ = std::move(meter); }

 private:
  friend class Pool;

  std::shared_ptr<Pool> pool_;
  std::byte* data_ = nullptr;
  std::size_t size_;
  std::shared_ptr<RunMeter> meter_;  // of the run that allocated it or to which it was donated; null: not measured
};
using CpuBufferPtr = std::shared_ptr<CpuBuffer>;

}  // namespace burn::backends::cpu
