#include "daemon/log_throttle.h"

#include <gtest/gtest.h>

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;

class LogThrottleTest : public testing::Test {
 protected:
  int admitted(int lines) {
    int count = 0;
    for (int i = 0; i < lines; ++i) count += throttle_.admit(now_) ? 1 : 0;
    return count;
  }

  LogThrottle throttle_{3, 10s};
  LogThrottle::Clock::time_point now_ = LogThrottle::Clock::now();
};

TEST_F(LogThrottleTest, WritesTheFirstOfAPeriodAndCountsTheRest) {
  EXPECT_EQ(admitted(1000), 3);
  EXPECT_EQ(throttle_.take_suppressed(now_), 0u);  // it goes on
  now_ += 9s;
  EXPECT_EQ(admitted(10), 0);
  now_ += 1s;
  EXPECT_EQ(throttle_.take_suppressed(now_), 1007u);
  EXPECT_EQ(throttle_.take_suppressed(now_), 0u);  // said once
  EXPECT_EQ(admitted(10), 3);
}

TEST_F(LogThrottleTest, LeavesAFewLinesAlone) {
  for (int period = 0; period < 5; ++period) {
    EXPECT_EQ(admitted(3), 3);
    now_ += 10s;
    EXPECT_EQ(throttle_.take_suppressed(now_), 0u);
  }
}

TEST_F(LogThrottleTest, AFloodMakesAFewLinesASecond) {
  int lines = 0;
  for (int second = 0; second < 100; ++second, now_ += 1s) {
    for (int i = 0; i < 100; ++i) {
      if (throttle_.take_suppressed(now_) > 0) ++lines;
      if (throttle_.admit(now_)) ++lines;
    }
  }
  EXPECT_LE(lines, 10 * (3 + 1));
  EXPECT_GE(lines, 10 * 3);
}

}  // namespace
}  // namespace burn::daemon
