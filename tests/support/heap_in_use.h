// The heap memory that this process has allocated and not freed.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Declared in <sanitizer/allocator_interface.h>, which GCC does not install.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#else
#include <malloc.h>
#endif

namespace burn::test {

// In bytes, of all threads. Excludes free blocks that the allocator keeps for reuse, and memory that was mapped without
// the allocator.
inline std::ptrdiff_t heap_in_use() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return static_cast<std::ptrdiff_t>(__sanitizer_get_current_allocated_bytes());
#else
  const auto heap = ::mallinfo2();
  return static_cast<std::ptrdiff_t>(heap.uordblks + heap.hblkhd);
#endif
}

}  // namespace burn::test
