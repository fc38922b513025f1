// Memory that two processes of one host have mapped: two rings, one for each direction. The process that makes it gives
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
  // Of each ring. Small enough for both to stay in a cache that the processes share, which is where the speed comes
  // from.
  static constexpr std::size_t kRingBytes = std::size_t{1} << 20;
  // What the header of an upgrade says: a peer with another layout or another protocol says another number.
  static constexpr const char* kVersion = "1";

  // New, and sealed: the peer cannot take pages away from under us, which would kill the process that touches them.
  // Pages are only taken when they are first written to. Also gives the descriptor to pass on. Errors: UNAVAILABLE.
  static Result<SharedMemory> create(UniqueFd* descriptor);
  // What a peer has made, if it is as create() makes it. Errors: UNAVAILABLE.
  static Result<SharedMemory> open(const UniqueFd& descriptor);

  SharedMemory(SharedMemory&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  // Direction 0 is from the maker to the other, 1 the way back.
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

// Whether it is to be used at all: BURN_SHARED_MEMORY=off says no, to the processes that have it in their environment.
bool shared_memory_is_wanted();

}  // namespace burn::net
