#include "backends/cpu/parallel.h"

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

namespace burn::backends::cpu {
namespace {

// How often each of n items was visited, in parts of at least `grain`.
std::vector<int> visits(std::int64_t n, std::int64_t grain) {
  std::vector<int> count(static_cast<std::size_t>(n));
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) ++count[static_cast<std::size_t>(i)];
  });
  return count;
}

TEST(ParallelFor, VisitsEveryItemOnce) {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 100, 1001}) {
    for (const std::int64_t grain : {1, 2, 10, 5000}) {
      EXPECT_EQ(visits(n, grain), std::vector<int>(static_cast<std::size_t>(n), 1)) << n << " by " << grain;
    }
  }
}

// In a process of its own, as ctest runs it, this is the first to ask.
TEST(ThreadCount, IsNotWhatALibraryMayUseForTheMoment) {
  const LibraryThreads alone(1);
  const char* wanted = std::getenv("BURN_NUM_THREADS");
  if (wanted || std::getenv("OMP_NUM_THREADS")) GTEST_SKIP() << "the number is given";
  cpu_set_t cores;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
  EXPECT_EQ(thread_count(), CPU_COUNT(&cores));
}

TEST(ParallelFor, KeepsPartsAsLargeAsTheGrain) {
  std::atomic<std::int64_t> smallest = 1000;
  parallel_for(1000, 64, [&](std::int64_t begin, std::int64_t end) {
    auto seen = smallest.load();
    while (end - begin < seen && !smallest.compare_exchange_weak(seen, end - begin)) {
    }
  });
  EXPECT_GE(smallest, 64);
}

TEST(ParallelFor, InsideAnotherIsOneCall) {
  std::atomic<int> outer = 0, inner = 0;
  parallel_for(64, 1, [&](std::int64_t, std::int64_t) {
    ++outer;
    parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(end - begin, 64);
      ++inner;
    });
  });
  EXPECT_EQ(outer, inner);
}

TEST(ParallelFor, ServesManyCallersAtTheSameTime) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  callers.reserve(10);
  for (int caller = 0; caller < 10; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 300; ++round) {
        const auto count = visits(1 + (caller * 37 + round) % 200, 1);
        if (std::accumulate(count.begin(), count.end(), 0) != static_cast<int>(count.size())) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace burn::backends::cpu
