#include "base/heap.h"

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/support/sanitized.h"

namespace burn {
namespace {

// Page faults of this thread while it takes 2 MiB in blocks, writes them and frees them, so many times.
long faults(int rounds) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_THREAD, &before);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<std::byte[]>> blocks;
    blocks.reserve(32);
    for (int i = 0; i < 32; ++i) blocks.push_back(std::make_unique<std::byte[]>(std::size_t{64} << 10));  // zeroed
  }
  ::getrusage(RUSAGE_THREAD, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(KeepFreedBlocks, SparesTheirPagesToBeFaultedInAgain) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer has an allocator of its own";
  std::thread([] {
    keep_freed_blocks();
    faults(2);
    EXPECT_LT(faults(50), 50);
  }).join();
}

}  // namespace
}  // namespace burn
