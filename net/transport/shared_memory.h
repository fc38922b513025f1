// Memory mapped by two processes of one machine: two rings, one for each direction. The process that creates it sends
// the other its file descriptor over a unix socket.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/status.h"
#include "net/transport/shared_ring.h"
#include "net/transport/socket.h"

namespace burn::net {

// Owns the mapping. Movable; the rings stay where they are.
class SharedMemory {
 public:
  // Size of each ring. Small enough for both to stay in a cache shared by the processes, which makes them fast.
  static constexpr std::size_t kRingBytes = std::size_t{1} << 20;
  // The value of the upgrade header: a peer with another layout or protocol has another number.
  static constexpr const char* kVersion = "1";

  // Creates sealed memory: the peer cannot shrink it, which would kill this process when it accesses the removed pages.
  // Pages are allocated when they are first written. `descriptor`: receives the one to send to the peer. Errors:
  // UNAVAILABLE.
  static Result<SharedMemory> create(UniqueFd* descriptor);
  // Maps memory that a peer has created, if it is as create() makes it. Errors: UNAVAILABLE.
  static Result<SharedMemory> open(const UniqueFd& descriptor);

  SharedMemory(SharedMemory&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  // Direction 0 is from the creator to the other process, 1 the opposite.
  RingControl& control(std::size_t direction) { return layout_->controls[direction]; }
  std::span<std::byte> bytes(std::size_t direction) { return layout_->bytes[direction]; }

 private:
  struct Layout {
    std::array<RingControl, 2> controls;
    alignas(4096) std::array<std::array<std::byte, kRingBytes>, 2> bytes;
  };

  explicit SharedMemory(Layout* layout) : layout_(layout) {}
  static Result<SharedMemory> map(int fd);

  Layout* layout_;
};

// Whether shared memory may be used: not in processes with BURN_SHARED_MEMORY=off in their environment.
bool shared_memory_is_wanted();

}  // namespace burn::net
