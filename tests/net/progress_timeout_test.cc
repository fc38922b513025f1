#include "net/remote/progress_timeout.h"

#include <gtest/gtest.h>

namespace burn::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Checks every second a server whose state is `seen` each time; returns the seconds until it times out, 0: not in a
// day.
int seconds_until_over(milliseconds limit, const ProgressTimeout::Seen& seen, milliseconds lease = {}) {
  ProgressTimeout patience(limit);
  ProgressTimeout::Clock::time_point now{};
  (void)patience.is_over(now, {.is_waiting = true, .is_connected = true}, lease);
  for (int second = 1; second <= 24 * 3600; ++second) {
    now += seconds{1};
    if (patience.is_over(now, seen, lease)) return second;
  }
  return 0;
}

constexpr ProgressTimeout::Seen kSilent{.is_waiting = true, .is_connected = true};

TEST(ProgressTimeout, IsOverAfterTheLimitAndNeverWithoutOne) {
  EXPECT_EQ(seconds_until_over(seconds{600}, kSilent), 600);
  EXPECT_EQ(seconds_until_over(seconds{0}, kSilent), 0);
}

TEST(ProgressTimeout, IsNotNeededWhereNothingIsWaitedFor) {
  EXPECT_EQ(seconds_until_over(seconds{10}, {.is_waiting = false, .is_connected = true}), 0);
}

TEST(ProgressTimeout, BeginsAnewWithWhatHasComeWhole) {
  auto seen = kSilent;
  seen.progress = true;
  EXPECT_EQ(seconds_until_over(seconds{10}, seen), 0);
}

TEST(ProgressTimeout, WantsAnAnswerToComeAtSomeRate) {
  auto seen = kSilent;
  seen.bytes = ProgressTimeout::kMinBytesPerSecond;
  EXPECT_EQ(seconds_until_over(seconds{10}, seen), 0);
  seen.bytes = ProgressTimeout::kMinBytesPerSecond / 2;  // half as long again, and so on
  EXPECT_EQ(seconds_until_over(seconds{10}, seen), 20);
  seen.bytes = 1;
  EXPECT_EQ(seconds_until_over(seconds{600}, seen), 601);
}

TEST(ProgressTimeout, DoesNotSaveWhatCameEarlier) {
  ProgressTimeout patience(seconds{10});
  ProgressTimeout::Clock::time_point now{};
  EXPECT_FALSE(patience.is_over(now, kSilent, {}));
  auto seen = kSilent;
  seen.bytes = std::uint64_t{1} << 60;
  EXPECT_FALSE(patience.is_over(now += seconds{1}, seen, {}));
  EXPECT_FALSE(patience.is_over(now += seconds{9}, kSilent, {}));
  EXPECT_TRUE(patience.is_over(now += seconds{1}, kSilent, {}));
}

TEST(ProgressTimeout, DoesNotCountLostConnectionsForAsLongAsTheLeaseAltogether) {
  auto seen = kSilent;
  seen.is_connected = false;
  EXPECT_EQ(seconds_until_over(seconds{10}, seen, seconds{30}), 40);
  EXPECT_EQ(seconds_until_over(seconds{10}, seen, seconds{0}), 10);
}

}  // namespace
}  // namespace burn::net
