// Host memory for sending and receiving large tensors. Page faults on fresh memory cost as much as copying the bytes,
// so freed blocks are kept for reuse, and large pages are requested.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace burn {

// Allocates uninitialised memory, aligned for any vector register; null if there is none. Thread-safe. Freed blocks are
// kept up to a limit; the system may reclaim their pages when it needs them (MADV_FREE).
std::shared_ptr<std::byte[]> host_block(std::size_t size);

// A block that a tensor is received into. A device's subclass may be memory that the device reads directly. Its owner
// may write to it.
class HostBlock {
 public:
  HostBlock() = default;
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  virtual ~HostBlock() = default;
  virtual std::span<std::byte> bytes() = 0;
};
using HostBlockPtr = std::shared_ptr<HostBlock>;

// Returns kept blocks to the system, oldest first: those freed at least `unused_for` ago, until `keep` bytes are left.
// Returns the number of bytes released.
std::size_t trim_host_blocks(std::size_t keep, std::chrono::milliseconds unused_for);

// Bytes of freed blocks that this process keeps.
std::size_t kept_host_bytes();

}  // namespace burn
