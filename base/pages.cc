#include "base/pages.h"

#include <malloc.h>
#include <sys/mman.h>

namespace burn {

std::byte* map_pages(std::size_t size) {
  const std::size_t reserved = size + kLargePage;
  void* at = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(at);
  const std::size_t skip = (kLargePage - reinterpret_cast<std::size_t>(begin) % kLargePage) % kLargePage;
  if (skip > 0) ::munmap(begin, skip);
  if (kLargePage > skip) ::munmap(begin + skip + size, kLargePage - skip);
  ::madvise(begin + skip, size, MADV_HUGEPAGE);  // best effort: it may fail
  return begin + skip;
}

void unmap_pages(std::byte* begin, std::size_t size) { ::munmap(begin, size); }

void trim_heap() { ::malloc_trim(0); }

}  // namespace burn
