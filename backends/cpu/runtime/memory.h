// Host memory of the CPU backend: aligned blocks from a caching pool that knows what it has given away.
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

// Bytes counted beside a pool's blocks for as long as this lives, which is not longer than the pool.
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

// The bytes that a run has in use beyond those it began with, and the most of them at one time. Thread-safe.
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

// What this thread allocates from pools is counted there, for as long as the scope lives.
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

// Hands out blocks and keeps those that come back for the next time. Thread-safe; lives as long as its last buffer.
//
// What it keeps has bounds. A program that repeats itself finds all its blocks again; one of ever new sizes would leave
// blocks of every size behind, so what is reserved stays within one and a half of the most that was in use lately (and
// 512 MiB): the sizes that have not come back for the longest time go first. And trim() gives back what has not been
// used for a while.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  struct Config {
    std::uint64_t limit = usable_memory();   // bytes reserved at most
    std::uint64_t idle_limit = limit;        // of these, bytes kept for reuse at most
    std::optional<unsigned char> fill = {};  // of tests: what every block is full of when it is handed out
  };

  static constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

  explicit Pool(const Config& config);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Contents are undefined. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<std::shared_ptr<CpuBuffer>> allocate(std::size_t bytes);

  // Counts memory beside the pool's that is of the same limit, before it is taken; blocks that lie idle make room for
  // it. Errors: RESOURCE_EXHAUSTED, and nothing is counted.
  Status take_beside(std::uint64_t bytes);
  void give_beside(std::uint64_t bytes);
  Result<PoolReservation> hold_beside(std::uint64_t bytes);

  // What kernels have made for some size, for all programs.
  KeptTables& tables() { return *tables_; }

  // As Backend::trim(). To be called every few seconds: what "lately" is goes by its calls, too.
  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for);

  const Config& config() const { return config_; }
  MemoryStats stats() const;
  std::uint64_t taken() const;  // of the limit: in use, here and beside

 private:
  friend class CpuBuffer;

  struct Idle {
    std::byte* block;
    std::int64_t since;  // when it came back, in coarse milliseconds
  };
  using IdleOfOneSize = std::vector<Idle>;  // in the order in which they came back; the last one goes first

  std::byte* take(std::size_t size_class);  // null: no memory
  Status try_take_beside(std::uint64_t bytes);
  std::uint64_t room() const;  // for blocks beside those in use. Requires: mutex_ is held.
  void give_back(std::byte* block, std::size_t size_class);

  // These require: mutex_ is held.
  std::uint64_t most_idle() const;                // that may be now
  void drop_coldest(std::uint64_t idle_allowed);  // sizes that have not come back for the longest time first
  std::uint64_t drop_unused(std::uint64_t idle_allowed, std::int64_t until, std::uint64_t at_once);
  void drop(std::size_t size_class, IdleOfOneSize::iterator first, IdleOfOneSize::iterator last);
  void forget_old_peak(std::int64_t now);

  const Config config_;
  mutable std::mutex mutex_;
  std::array<IdleOfOneSize, std::size_t{64} * 8> idle_;  // by size class
  std::uint64_t idle_bytes_ = 0;
  std::uint64_t beside_ = 0;
  std::uint64_t recent_peak_ = 0, former_peak_ = 0;  // highest in_use in this stretch of time and the one before
  std::int64_t stretch_began_;
  MemoryStats stats_;
  const std::unique_ptr<KeptTables> tables_;  // goes first: what it keeps is counted here
};

class CpuBuffer final : public Buffer {
 public:
  // Empty until the pool fills in its block.
  CpuBuffer(std::shared_ptr<Pool> pool, std::size_t size) : pool_(std::move(pool)), size_(size) {}
  ~CpuBuffer() override;

  std::byte* data() const { return data_; }
  std::size_t size() const override { return size_; }
  // Its end is counted there. Requires: one owner.
  void count_end(std::shared_ptr<RunMeter> meter) { meter_ = std::move(meter); }

 private:
  friend class Pool;

  std::shared_ptr<Pool> pool_;
  std::byte* data_ = nullptr;
  std::size_t size_;
  std::shared_ptr<RunMeter> meter_;  // of the run that made it, or was given it; null: nothing is measured
};
using CpuBufferPtr = std::shared_ptr<CpuBuffer>;

}  // namespace burn::backends::cpu
