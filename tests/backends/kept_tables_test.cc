#include "backends/cpu/runtime/kept_tables.h"

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kKiB = 1024;

struct Numbers {
  static std::uint64_t kept_bytes(std::int64_t n) { return static_cast<std::uint64_t>(n); }
  static std::uint64_t needed_bytes(std::int64_t n) { return static_cast<std::uint64_t>(2 * n); }

  explicit Numbers(std::int64_t n) : size(n) {
    if (n == 666) throw Interrupted{};
  }
  std::int64_t size;
};
struct Others : Numbers {
  using Numbers::Numbers;
};

// 1 MiB, of which tables keep 64 KiB.
std::shared_ptr<Pool> small_pool() { return std::make_shared<Pool>(Pool::Config{.limit = 1024 * kKiB}); }

TEST(KeptTables, AreMadeOnceForASize) {
  const auto pool = small_pool();
  const auto table = *pool->tables().get<Numbers>(1000);
  EXPECT_EQ(table->size, 1000);
  EXPECT_EQ(*pool->tables().get<Numbers>(1000), table);
  EXPECT_NE(*pool->tables().get<Numbers>(1001), table);
  EXPECT_EQ((*pool->tables().get<Others>(1000))->size, 1000);
}

TEST(KeptTables, AreCountedAsTensorsAre) {
  const auto pool = small_pool();
  const auto table = *pool->tables().get<Numbers>(300 * kKiB);
  EXPECT_EQ(pool->taken(), std::uint64_t{300 * kKiB}) << "what it took to make it is given back";
  const auto refused = pool->tables().get<Numbers>(400 * kKiB);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(pool->taken(), std::uint64_t{300 * kKiB});
}

TEST(KeptTables, OfWhichThereAreTooManyGoTheLeastRecentlyUsedFirst) {
  const auto pool = small_pool();
  const std::weak_ptr<const Numbers> first = *pool->tables().get<Numbers>(20 * kKiB);
  const std::weak_ptr<const Numbers> second = *pool->tables().get<Numbers>(21 * kKiB);
  EXPECT_FALSE(first.expired());
  (void)pool->tables().get<Numbers>(20 * kKiB);
  (void)pool->tables().get<Numbers>(30 * kKiB);
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(pool->tables().bytes(), std::uint64_t{50 * kKiB});
  EXPECT_EQ(pool->taken(), std::uint64_t{50 * kKiB});
}

TEST(KeptTables, ThatAreLargeLiveAsLongAsTheirUser) {
  const auto pool = small_pool();
  auto table = *pool->tables().get<Numbers>(65 * kKiB);
  EXPECT_EQ(pool->tables().bytes(), 0u);
  EXPECT_EQ(pool->taken(), std::uint64_t{65 * kKiB});
  table.reset();
  EXPECT_EQ(pool->taken(), 0u);
}

TEST(KeptTables, MakeRoomForTensors) {
  const auto pool = small_pool();
  (void)pool->tables().get<Numbers>(60 * kKiB);
  EXPECT_TRUE(pool->allocate(1000 * kKiB).ok());
  EXPECT_EQ(pool->tables().bytes(), 0u);
  (void)pool->tables().get<Numbers>(60 * kKiB);
  EXPECT_TRUE(pool->reserve_external(1000 * kKiB).ok());
  EXPECT_EQ(pool->taken(), 0u);
}

TEST(KeptTables, GoWhenTheyHaveNotBeenUsedForAWhile) {
  const auto pool = small_pool();
  (void)pool->tables().get<Numbers>(1000);
  EXPECT_EQ(pool->trim(0, std::chrono::seconds{60}), 0u);
  EXPECT_EQ(pool->trim(0, milliseconds{0}), 1000u);
  EXPECT_EQ(pool->taken(), 0u);
}

TEST(KeptTables, ThatWereInterruptedLeaveNothingBehind) {
  const auto pool = small_pool();
  EXPECT_THROW((void)pool->tables().get<Numbers>(666), Interrupted);
  EXPECT_EQ(pool->taken(), 0u);
}

TEST(KeptTables, AreSharedByThreads) {
  const auto pool = small_pool();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t i = 0; i < 2000; ++i)
        EXPECT_EQ((*pool->tables().get<Numbers>(i % 37 * kKiB))->size, i % 37 * kKiB);
    });
  }
  for (auto& thread : threads) thread.join();
  pool->tables().drop_all();
  EXPECT_EQ(pool->taken(), 0u);
}

}  // namespace
}  // namespace burn::backends::cpu
