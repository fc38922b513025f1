#include "base/heap.h"

#include <malloc.h>

namespace burn {

void keep_freed_blocks() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // NOLINT(concurrency-mt-unsafe): it locks
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);  // NOLINT(concurrency-mt-unsafe): it locks
}

}  // namespace burn
