// A stream of bytes from one process to another through memory mapped by both: no system call, no copy by the kernel.
// It cannot wake a thread: each end sets a flag before it sleeps, and an end whose call returns true must wake the
// other by other means.
//
// The peer is not trusted. Each end keeps its own index in private memory and only publishes it; it checks the other's
// index at each read. So a peer that writes nonsense into the memory breaks only its own connection and data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace burn::net {

// Stored in the shared memory; all zeros are an empty ring. Every field has one writer, except the flags, which their
// owner sets and either side clears. Fields are on separate cache lines, as the ends run on different cores.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written;  // bytes so far
  std::atomic<std::uint32_t> closed;               // no more will be written
  alignas(64) std::atomic<std::uint64_t> read;     // bytes so far
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;
  alignas(64) std::atomic<std::uint32_t> writer_sleeps;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

// How an end goes to sleep, and why no wake-up is lost: the sleeper sets its flag and then reads the index once more;
// the other moves the index and then reads the flag. All four operations are sequentially consistent, so there is one
// order in which at least one of the two sees the other's write: the sleeper sees the index and stays awake, or the
// other sees the flag and wakes the sleeper.

// Not thread-safe, nor is RingReader. One writer and one reader may run concurrently.
class RingWriter {
 public:
  // Requires: the size of `bytes` is a power of two.
  RingWriter(RingControl& control, std::span<std::byte> bytes) : control_(control), bytes_(bytes) {}

  // Bytes that put() accepts now. Always 0 after the reader's index was invalid.
  std::size_t space();
  bool is_broken() const { return broken_; }
  // Requires: at most the result of the last space(), less the bytes put since.
  void put(std::span<const std::byte> from);
  std::size_t unpublished() const { return written_ - published_; }
  // Makes the bytes visible to the reader. True: the reader sleeps and must be woken.
  [[nodiscard]] bool publish();
  // True: the writer may sleep; it is woken when at least half of the ring is free. False: that is already so.
  [[nodiscard]] bool go_to_sleep();
  // Marks the end, after the published bytes. True: as in publish().
  [[nodiscard]] bool close();

 private:
  bool has_room() { return space() >= bytes_.size() / 2; }

  RingControl& control_;
  const std::span<std::byte> bytes_;
  std::uint64_t written_ = 0, published_ = 0;
  std::uint64_t seen_read_ = 0;
  bool broken_ = false;
};

class RingReader {
 public:
  RingReader(RingControl& control, std::span<const std::byte> bytes) : control_(control), bytes_(bytes) {}

  // Bytes that get() returns now. Always 0 after the writer's index was invalid.
  std::size_t available();
  bool is_broken() const { return broken_; }
  // Whether the writer has closed the ring and all bytes are read.
  bool is_at_end();
  // Requires: at most the result of the last available(), less the bytes taken since. Parse bytes only after copying
  // them out: the peer may still change them in the ring.
  void get(std::span<std::byte> to);
  std::size_t unreleased() const { return read_ - released_; }
  // Frees the space of the bytes taken. True: the writer sleeps and must be woken, as there is enough space.
  [[nodiscard]] bool release();
  // True: the reader may sleep; it is woken by any byte and by the end. False: there is one already.
  // Requires: nothing is unreleased, so a sleeping writer has been woken.
  [[nodiscard]] bool go_to_sleep();

 private:
  RingControl& control_;
  const std::span<const std::byte> bytes_;
  std::uint64_t read_ = 0, released_ = 0;
  std::uint64_t seen_written_ = 0;
  bool broken_ = false;
};

}  // namespace burn::net
