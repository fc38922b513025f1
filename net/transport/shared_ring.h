// A stream of bytes from one process to another through memory that both have mapped: no system call, no kernel's copy.
// It cannot wake a thread: the two ends say when they sleep, and an end that is told to wakes the other by other means.
//
// The peer is not trusted. An end keeps its own index to itself and only tells the other; the other's it checks
// whenever it looks. So a peer that writes nonsense anywhere in the memory breaks its own connection or its own data,
// and nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace burn::net {

// In the shared memory; zeros are an empty ring. Every field has one writer, but the flags, which their owner sets and
// either side clears. On cache lines of their own: the ends are on different cores.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written;  // bytes so far
  std::atomic<std::uint32_t> closed;               // no more will be
  alignas(64) std::atomic<std::uint64_t> read;     // bytes so far
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;
  alignas(64) std::atomic<std::uint32_t> writer_sleeps;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

// How an end goes to sleep, and why no wake-up is lost: the sleeper sets its flag and then looks at the index once
// more; the other moves the index and then looks at the flag. All four are sequentially consistent, so they have one
// order in which at least one of the two sees what the other did: the sleeper the index, and stays awake, or the other
// the flag, and wakes it.

// Not thread-safe; so is the reader. The two may run side by side.
class RingWriter {
 public:
  // Requires: the size of `bytes` is a power of two.
  RingWriter(RingControl& control, std::span<std::byte> bytes) : control_(control), bytes_(bytes) {}

  // Bytes that put() takes now. None for good once the reader's index made no sense.
  std::size_t space();
  bool is_broken() const { return broken_; }
  // Requires: no more than the last space() has said, less what was put since.
  void put(std::span<const std::byte> from);
  std::size_t unpublished() const { return written_ - published_; }
  // Shows the reader what was put. True: it sleeps, wake it.
  [[nodiscard]] bool publish();
  // True: the writer may sleep; it is woken when at least half of the ring is free. False: that is so now.
  [[nodiscard]] bool go_to_sleep();
  // After what was published. True: as in publish().
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

  // Bytes that get() gives now. None for good once the writer's index made no sense.
  std::size_t available();
  bool is_broken() const { return broken_; }
  // Whether the writer has closed and all of it is read.
  bool is_at_end();
  // Requires: no more than the last available() has said, less what was got since. Parse bytes only after they are
  // copied out: in here the peer may still change them.
  void get(std::span<std::byte> to);
  std::size_t unreleased() const { return read_ - released_; }
  // Gives the writer back the room of what was got. True: it sleeps, and there is room worth waking it for.
  [[nodiscard]] bool release();
  // True: the reader may sleep; it is woken for any byte and for the end. False: there is one now.
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
