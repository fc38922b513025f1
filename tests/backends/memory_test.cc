#include "backends/cpu/runtime/memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include <gtest/gtest.h>

namespace burn::backends::cpu {
namespace {

std::shared_ptr<Pool> pool_of(std::uint64_t limit, std::uint64_t idle_limit) {
  return std::make_shared<Pool>(Pool::Config{.limit = limit, .idle_limit = idle_limit});
}

TEST(Pool, AlignsEveryBlockAndGivesAtLeastWhatWasAskedFor) {
  const auto pool = pool_of(1 << 30, 1 << 20);
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 511, 512, 513, 1000, 4096, 4097, 100000, 1 << 20, (1 << 20) + 1}) {
    const auto buffer = *pool->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % Pool::kAlignment, 0u);
    EXPECT_EQ(buffer->size(), bytes);
    std::memset(buffer->data(), 1, bytes);
    EXPECT_GE(pool->stats().in_use, bytes);
    EXPECT_LE(pool->stats().in_use, bytes + bytes / 8 + Pool::kAlignment);
  }
  EXPECT_EQ(pool->stats().in_use, 0u);
}

TEST(Pool, CountsWhatLivesWhatIsReservedAndThePeak) {
  const auto pool = pool_of(1 << 30, 0);
  auto a = *pool->allocate(1000), b = *pool->allocate(3000);
  const auto both = pool->stats();
  EXPECT_EQ(both.in_use, both.reserved);
  EXPECT_EQ(both.in_use, both.peak);
  a.reset();
  b.reset();
  EXPECT_EQ(pool->stats().in_use, 0u);
  EXPECT_EQ(pool->stats().reserved, 0u);  // nothing may stay idle
  EXPECT_EQ(pool->stats().peak, both.peak);
}

TEST(Pool, RefusesWhatItsLimitDoesNotHold) {
  const auto pool = pool_of(1 << 20, 1 << 20);
  const auto held = pool->allocate(700 << 10);
  ASSERT_TRUE(held.ok());
  const auto refused = pool->allocate(700 << 10);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::resource_exhausted);
  EXPECT_FALSE(pool->allocate(std::size_t{1} << 63).ok());
  EXPECT_FALSE(pool->allocate(~std::size_t{0}).ok());
}

TEST(Pool, GivesIdleBlocksUpRatherThanRefuse) {
  const auto pool = pool_of(1 << 20, 1 << 20);
  (*pool->allocate(700 << 10)).reset();
  EXPECT_TRUE(pool->allocate(500 << 10).ok());  // of another size, beside which the idle one has no room
  EXPECT_LE(pool->stats().reserved, std::uint64_t{1} << 20);
}

constexpr std::size_t kMiB = std::size_t{1} << 20;

using std::chrono::milliseconds;
using std::chrono::seconds;

// What a sanitizer is to see the end of goes back at once.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

TEST(Pool, OfAProgramThatRepeatsItselfKeepsEveryBlock) {
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept under this sanitizer";
  const auto pool = pool_of(std::uint64_t{1} << 40, std::uint64_t{1} << 40);
  std::uint64_t after_first = 0;
  for (int step = 0; step < 5; ++step) {
    std::vector<CpuBufferPtr> held;
    for (std::size_t i = 0; i < 40; ++i) held.push_back(*pool->allocate((1 + i % 7) * 9 * kMiB));
    for (std::size_t i = 0; i < 40; ++i) held[i] = *pool->allocate((3 + i % 5) * 5 * kMiB);  // others beside them
    held.clear();
    if (step == 0) after_first = pool->stats().reserved;
    EXPECT_EQ(pool->stats().reserved, after_first);
  }
}

TEST(Pool, OfAProgramOfEverNewSizesKeepsLittleMoreThanWasInUse) {
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept under this sanitizer";
  const auto pool = pool_of(std::uint64_t{1} << 40, std::uint64_t{1} << 40);
  std::vector<CpuBufferPtr> held;
  for (std::size_t mib = 100; mib < 2000; mib += 7) {  // of all size classes there are, never more than two alive
    held.push_back(*pool->allocate(mib * kMiB));
    if (held.size() > 2) held.erase(held.begin());
    const auto stats = pool->stats();
    ASSERT_LE(stats.reserved, stats.peak + std::max<std::uint64_t>(stats.peak / 2, 512 * kMiB));
  }
  const auto peak = pool->stats().peak;
  held.clear();
  EXPECT_LE(pool->stats().reserved, peak + peak / 2);
}

TEST(Pool, GivesTheSizesUpThatHaveNotComeBackForTheLongestTime) {
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept under this sanitizer";
  const auto pool = pool_of(1 << 30, 100 * kMiB);
  const auto use = [&](std::size_t mib) {
    pool->allocate(mib * kMiB)->reset();
    std::this_thread::sleep_for(milliseconds{12});  // the clock is coarse
  };
  use(40), use(30), use(40), use(28);  // 98 MiB
  use(20);
  const auto reserved = pool->stats().reserved;
  EXPECT_EQ(reserved, (40 + 28 + 20) * kMiB);  // the 30 are gone
}

TEST(Pool, TrimsWhatHasNotBeenUsedForAWhile) {
  const auto pool = pool_of(1 << 30, 1 << 30);
  auto living = *pool->allocate(3 * kMiB);
  pool->allocate(100 * kMiB)->reset();
  pool->allocate(1000)->reset();
  if (kKeepsBlocks) {
    EXPECT_EQ(pool->trim(0, seconds{60}), 0u);
  }
  const auto in_use = pool->stats().in_use;
  const auto idle = pool->stats().reserved - in_use;
  EXPECT_EQ(pool->trim(0, milliseconds{0}), idle);
  EXPECT_EQ(pool->stats().reserved, in_use);
  std::memset(living->data(), 1, living->size());
}

TEST(Pool, TrimKeepsWhatItIsTold) {
  if (!kKeepsBlocks) GTEST_SKIP() << "nothing is kept under this sanitizer";
  const auto pool = pool_of(1 << 30, 1 << 30);
  std::vector<CpuBufferPtr> held;
  for (int i = 0; i < 30; ++i) held.push_back(*pool->allocate(10 * kMiB));
  held.clear();
  EXPECT_EQ(pool->trim(300 * kMiB, milliseconds{0}), 0u);
  EXPECT_EQ(pool->trim(55 * kMiB, milliseconds{0}), 250 * kMiB);
  EXPECT_EQ(pool->stats().reserved, 50 * kMiB);
  EXPECT_EQ(pool->trim(~std::uint64_t{0}, milliseconds{0}), 0u);
}

TEST(Pool, MayBeTrimmedWhileOthersUseIt) {
  const auto pool = pool_of(1 << 30, 1 << 30);
  std::atomic<bool> done = false;
  std::thread trimmer{[&] {
    while (!done) (void)pool->trim(0, milliseconds{0});
  }};
  for (int i = 0; i < 3000; ++i) {
    const auto buffer = *pool->allocate(static_cast<std::size_t>(i) * 500);
    std::memset(buffer->data(), i, buffer->size());
  }
  done = true;
  trimmer.join();
  EXPECT_EQ(pool->stats().in_use, 0u);
}

TEST(Pool, ServesManyThreads) {
  const auto pool = pool_of(1 << 30, 1 << 16);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pool, seed] {
      std::mt19937 random(seed);
      std::vector<CpuBufferPtr> held;
      for (int i = 0; i < 2000; ++i) {
        held.push_back(*pool->allocate(random() % 10000));
        std::memset(held.back()->data(), static_cast<int>(seed), held.back()->size());
        if (held.size() > 20) held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(pool->stats().in_use, 0u);
}

TEST(Pool, OutlivesItsOwnerWhileABufferLives) {
  auto pool = pool_of(1 << 20, 1 << 20);
  auto buffer = *pool->allocate(100);
  pool.reset();
  std::memset(buffer->data(), 0, 100);
}

}  // namespace
}  // namespace burn::backends::cpu
