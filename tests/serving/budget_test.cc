#include "serving/budget.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/session/expect_fails.h"

namespace burn::serving {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct CountingAccount final : HostAccount {
  Status take_host(std::uint64_t bytes) override {
    if (taken + bytes > limit) return resource_exhausted("the account is empty");
    taken += bytes;
    return {};
  }
  void give_host(std::uint64_t bytes) override { taken -= bytes; }

  std::atomic<std::uint64_t> taken = 0;
  std::uint64_t limit = ~std::uint64_t{0};
};

TEST(Budget, CountsTensorsAndTheHostsPartTogether) {
  Budget budget{10 * kMiB};
  auto tensors = budget.take(6 * kMiB);
  ASSERT_TRUE(tensors.ok());
  auto calls = budget.take_host_share(3 * kMiB);
  ASSERT_TRUE(calls.ok()) << calls.status().to_string();
  EXPECT_FAILS(budget.take_host(2 * kMiB), resource_exhausted, "exceed what a session may hold, 10485760");
  EXPECT_FAILS(budget.take(2 * kMiB).status(), resource_exhausted, "exceed what a session may hold");
  *tensors = {};
  EXPECT_TRUE(budget.take_host(6 * kMiB).ok());
  budget.give_host(6 * kMiB);
  *calls = {};
  EXPECT_EQ(budget.host(), 0u);
  EXPECT_TRUE(budget.take(5 * kMiB).ok());
}

TEST(Budget, ALittleIsFree) {
  Budget budget{20};
  EXPECT_TRUE(budget.take_host(Budget::kFree).ok());
  const auto all = budget.take(20);
  EXPECT_TRUE(all.ok());
  EXPECT_FALSE(budget.take_host(1).ok());
  budget.give_host(Budget::kFree);
}

TEST(Budget, SessionsShareAnAccount) {
  CountingAccount account;
  {
    Budget one{1000 * kMiB, &account}, other{1000 * kMiB, &account};
    EXPECT_TRUE(one.take_host(50 * kMiB).ok());
    EXPECT_TRUE(other.take_host(30 * kMiB).ok());
    EXPECT_GE(account.taken.load(), 79 * kMiB);
    EXPECT_LE(account.taken.load(), 82 * kMiB);
    one.give_host(50 * kMiB);
    EXPECT_LE(account.taken.load(), 36 * kMiB);
  }
  EXPECT_EQ(account.taken.load(), 0u);
}

TEST(Budget, IsRightUnderManyThreads) {
  CountingAccount account;
  {
    Budget budget{64 * kMiB, &account};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          auto share = budget.take_host_share(static_cast<std::uint64_t>(i % 17) * kMiB / 2);
          auto tensor = budget.take(kMiB);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(budget.host(), 0u);
    EXPECT_EQ(budget.in_use(), 0u);
    EXPECT_TRUE(budget.take(58 * kMiB).ok());  // of what was granted at most a little is kept
  }
  EXPECT_EQ(account.taken.load(), 0u);
}

TEST(Budget, WhatTheAccountRefusesIsNotTaken) {
  CountingAccount account;
  account.limit = 10 * kMiB;
  Budget one{1000 * kMiB, &account}, other{1000 * kMiB, &account};
  EXPECT_TRUE(one.take_host(8 * kMiB).ok());
  EXPECT_FAILS(other.take_host(8 * kMiB), resource_exhausted, "the account is empty");
  EXPECT_EQ(other.host(), 0u);
  one.leave_account();
  EXPECT_EQ(account.taken, 0u);
  EXPECT_TRUE(other.take_host(8 * kMiB).ok());
}

}  // namespace
}  // namespace burn::serving
