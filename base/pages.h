// Memory mapped from the system in pages, bypassing the allocator, which would keep freed memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <time.h>

namespace burn {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

// Maps zeroed memory, aligned to a large page. Large pages are requested, and no swap space is reserved. Null if there
// is no memory. Thread-safe.
std::byte* map_pages(std::size_t size);
// Requires: `begin` was returned by map_pages() for the same size.
void unmap_pages(std::byte* begin, std::size_t size);

// Returns freed memory of all threads that the allocator keeps to the system; worthwhile after much was freed. Takes
// milliseconds per gigabyte.
void trim_heap();

// Monotonic time in ms, precise to a few ms, for timeouts of seconds. Takes a few ns.
inline std::int64_t coarse_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace burn
