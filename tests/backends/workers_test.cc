#include "backends/cpu/runtime/workers.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace burn::backends::cpu {
namespace {

// More threads than the machine has. Never destroyed, as its threads never end.
Workers& pool() {
  static auto& workers = *new Workers(7);
  return workers;
}

template <typename Body>
void run(std::int64_t n, std::int64_t parts, const Body& body) {
  pool().run({.n = n,
              .parts = parts,
              .grain = 1,
              .body =
                  [](const void* context, std::int64_t begin, std::int64_t end) {
                    for (auto i = begin; i < end; ++i) (*static_cast<const Body*>(context))(i);
                  },
              .context = &body});
}

TEST(Workers, RunEveryItemOnce) {
  for (const std::int64_t n : {1, 2, 7, 8, 9, 100, 1000}) {
    for (const std::int64_t parts : {1, 2, 7, 8, 9, 63, 300}) {
      if (parts > n) continue;
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
      run(n, parts, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
      for (const auto& count : visits) EXPECT_EQ(count, 1) << n << " in " << parts;
    }
  }
}

TEST(Workers, HaveSharesThatDifferByOneItem) {
  for (const std::int64_t n : {32, 33, 86, 94, 171, 1000}) {
    for (const std::int64_t threads : {2, 7, 8}) {
      const Job job{.n = n, .parts = 4 * threads, .grain = 1};
      EXPECT_EQ(job.begin_of(0), 0);
      EXPECT_EQ(job.begin_of(job.parts), n);
      for (std::int64_t thread = 0; thread < threads; ++thread) {
        const auto items = job.begin_of(4 * thread + 4) - job.begin_of(4 * thread);
        EXPECT_GE(items, n / threads) << n << " items, thread " << thread << " of " << threads;
        EXPECT_LE(items, n / threads + 1) << n << " items, thread " << thread << " of " << threads;
      }
    }
  }
}

// More callers than there are places for jobs: the rest work alone.
TEST(Workers, ServeMoreCallersThanTheyHavePlacesFor) {
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> callers;
  callers.reserve(48);
  for (int caller = 0; caller < 48; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) run(64, 16, [&](std::int64_t i) { sum += i; });
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 48 * 100 * 63 * 32);
}

TEST(Workers, HandTheFirstExceptionToTheCallerWhoseItIs) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  callers.reserve(6);
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 200; ++round) {
        const bool fails = (caller + round) % 2 == 0;
        try {
          run(100, 20, [&](std::int64_t i) {
            if (fails && i == 50) throw std::runtime_error(std::to_string(caller));
          });
          if (fails) ++wrong;
        } catch (const std::runtime_error& error) {
          if (!fails || error.what() != std::to_string(caller)) ++wrong;
        }
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Whoever is called while it is about to sleep wakes up, however long nobody has called.
TEST(Workers, ComeAgainAfterAPause) {
  std::atomic<std::int64_t> count = 0;
  for (int round = 0; round < 30; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(round * 20));
    run(32, 32, [&](std::int64_t) { ++count; });
  }
  EXPECT_EQ(count, 30 * 32);
}

}  // namespace
}  // namespace burn::backends::cpu
