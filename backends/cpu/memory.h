// Host memory of the CPU backend: aligned blocks from a caching pool that knows what it has given away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/backend.h"

namespace burn::backends::cpu {

// The memory this process may use: the machine's, or its control group's share of it.
std::uint64_t system_memory();

class CpuBuffer;

// Hands out blocks and keeps those that come back for the next time. Thread-safe; lives as long as its last buffer.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  struct Config {
    std::uint64_t limit = system_memory();  // bytes reserved at most
    std::uint64_t idle_limit = limit / 4;   // of these, bytes kept for reuse while nobody uses them
  };

  static constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector

  explicit Pool(const Config& config) : config_(config) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Contents are undefined. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<std::shared_ptr<CpuBuffer>> allocate(std::size_t bytes);

  const Config& config() const { return config_; }
  MemoryStats stats() const;

 private:
  friend class CpuBuffer;

  std::byte* take(std::size_t size_class);  // null: no memory
  void give_back(std::byte* block, std::size_t size_class);
  void trim(std::uint64_t idle_allowed);  // Requires: mutex_ held.

  const Config config_;
  mutable std::mutex mutex_;
  std::array<std::vector<std::byte*>, 64 * 8> idle_;  // by size class
  std::uint64_t idle_bytes_ = 0;
  MemoryStats stats_;
};

class CpuBuffer final : public Buffer {
 public:
  // Empty until the pool fills in its block.
  CpuBuffer(std::shared_ptr<Pool> pool, std::size_t size) : pool_(std::move(pool)), size_(size) {}
  ~CpuBuffer() override;

  std::byte* data() const { return data_; }
  std::size_t size() const override { return size_; }

 private:
  friend class Pool;

  std::shared_ptr<Pool> pool_;
  std::byte* data_ = nullptr;
  std::size_t size_;
};
using CpuBufferPtr = std::shared_ptr<CpuBuffer>;

}  // namespace burn::backends::cpu
