#include "serving/duration_histogram.h"

#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace burn::serving {
namespace {

using namespace std::chrono_literals;

TEST(DurationHistogram, CountsInTheRangeWhoseUpperEndIsNotBelow) {
  DurationHistogram histogram;
  for (const std::chrono::nanoseconds time : {0ns, 10'000ns, 10'001ns, 1'000'000ns, 100'000'000'000ns})
    histogram.add(time);
  histogram.add(101s);
  const auto counted = histogram.counts();
  EXPECT_EQ(counted.counts.front(), 2u);  // up to 10 us
  EXPECT_EQ(counted.counts[1], 1u);       // up to 30 us
  EXPECT_EQ(counted.counts[4], 1u);       // up to 1 ms
  EXPECT_EQ(counted.counts[14], 1u);      // up to 100 s
  EXPECT_EQ(counted.counts.back(), 1u);   // above
  EXPECT_EQ(counted.sum, 201s + 1ms + 20'001ns);
}

TEST(DurationHistogram, LosesNothingBetweenThreads) {
  DurationHistogram histogram;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) histogram.add(std::chrono::microseconds{k});
    });
  }
  for (auto& thread : threads) thread.join();
  const auto counted = histogram.counts();
  EXPECT_EQ(std::accumulate(counted.counts.begin(), counted.counts.end(), std::uint64_t{0}), 40'000u);
  EXPECT_EQ(counted.sum, 4 * std::chrono::microseconds{9999 * 10'000 / 2});
}

}  // namespace
}  // namespace burn::serving
