#include "backends/cpu/runtime/parallel.h"

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/interrupt.h"
#include "base/machine.h"

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
  EXPECT_EQ(thread_count(), usable_cores());
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

TEST(ParallelFor, HandsWhatAPartThrowsToItsCaller) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun = 0, ended = 0;
    const auto fails = [&] {
      parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t) {
        ++begun;
        const bool is_bad = begin > 0;
        ++ended;
        if (is_bad) throw std::bad_alloc{};
      });
    };
    EXPECT_THROW(fails(), std::bad_alloc);
    EXPECT_EQ(begun, ended);
  }
  EXPECT_EQ(visits(100, 1), std::vector<int>(100, 1));  // the pool is as it was
}

TEST(ParallelFor, EndsSoonWhenItsRunIsToEnd) {
  Interrupt interrupt;
  const InterruptScope scope(&interrupt);
  std::atomic<std::int64_t> done = 0;
  const auto endless = [&] {
    parallel_for(std::int64_t{1} << 60, 1 << 10, [&](std::int64_t begin, std::int64_t end) {
      done += end - begin;
      interrupt.request();
    });
  };
  EXPECT_THROW(endless(), Interrupted);
  EXPECT_LE(done, std::int64_t{thread_count()} * 64 * 1024 * 2);
}

TEST(ParallelFor, EndsWhenItsTimeIsOver) {
  Interrupt interrupt;
  interrupt.begin_run(std::chrono::milliseconds(30));
  const InterruptScope scope(&interrupt);
  EXPECT_THROW(parallel_for(std::int64_t{1} << 60, 1, [](std::int64_t, std::int64_t) {}), Interrupted);
  EXPECT_EQ(interrupt.why().code(), StatusCode::deadline_exceeded);
  interrupt.begin_run(std::chrono::milliseconds(0));
  parallel_for(100, 1, [](std::int64_t, std::int64_t) {});
}

// Whoever else computes goes on.
TEST(ParallelFor, AnInterruptIsItsCallersOwn) {
  Interrupt interrupt;
  interrupt.request();
  std::thread other([&] {
    const InterruptScope scope(&interrupt);
    for (int i = 0; i < 100; ++i) EXPECT_THROW(parallel_for(1000, 1, [](std::int64_t, std::int64_t) {}), Interrupted);
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(visits(1000, 1), std::vector<int>(1000, 1));
  other.join();
}

}  // namespace
}  // namespace burn::backends::cpu
