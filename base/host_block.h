// Host memory for large tensors on their way: fresh pages cost as much as moving the bytes into them, so blocks that
// come back are kept for the next time, and the system is asked for large pages.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace burn {

// Uninitialised, aligned for any vector register; null when there is no memory. Thread-safe. What comes back is kept up
// to a limit; the system may take the pages of what is kept whenever it needs them.
std::shared_ptr<std::byte[]> host_block(std::size_t size);

// A block to receive a tensor in, which knows how it is to be handed on: a device's may be memory that it reads by
// itself. Its holder's to write.
class HostBlock {
 public:
  HostBlock() = default;
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  virtual ~HostBlock() = default;
  virtual std::span<std::byte> bytes() = 0;
};
using HostBlockPtr = std::shared_ptr<HostBlock>;

// Gives the system those kept blocks that came back `unused_for` ago or longer, the oldest first, until `keep` bytes
// are left. How many bytes that was.
std::size_t trim_host_blocks(std::size_t keep, std::chrono::milliseconds unused_for);

// Of blocks that came back and are kept, in this process.
std::size_t kept_host_bytes();

}  // namespace burn
