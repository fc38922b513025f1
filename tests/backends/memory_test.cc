#include "backends/cpu/memory.h"

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
