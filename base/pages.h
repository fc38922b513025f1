// Memory of the system, taken and given back in pages: past the allocator, which would keep what is freed.
#pragma once

#include <cstddef>
#include <cstdint>

#include <time.h>

namespace burn {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

// Zeros that begin at a large page; the system is asked to use large pages, and to reserve nothing for them. Null when
// there is no memory. Thread-safe.
std::byte* map_pages(std::size_t size);
// Requires: what map_pages() gave, with the same size.
void unmap_pages(std::byte* begin, std::size_t size);

// Gives the system the pages that the allocator keeps of memory freed on any thread: after a great deal was freed.
// Takes milliseconds for each gigabyte.
void trim_heap();

// Milliseconds since some moment, for what is counted in seconds: a few ns a call.
inline std::int64_t coarse_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace burn
