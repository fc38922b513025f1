#include "daemon/periodic_thread.h"

#include <atomic>
#include <new>
#include <semaphore>

#include <gtest/gtest.h>

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;

TEST(PeriodicThread, CallsAtOnceAndAfterTheTimeThatACallReturns) {
  std::counting_semaphore<> called{0};
  std::atomic<int> calls = 0;
  PeriodicThread thread{"burn-test", [&] {
                          called.release();
                          return ++calls < 3 ? 1ms : std::chrono::milliseconds{1h};
                        }};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(called.try_acquire_for(20s));
  EXPECT_FALSE(called.try_acquire_for(50ms));
  thread.stop();  // does not wait for the hour
  EXPECT_EQ(calls, 3);
}

TEST(PeriodicThread, GoesOnAfterAnException) {
  std::counting_semaphore<> called{0};
  PeriodicThread thread{"burn-test", [&]() -> std::chrono::milliseconds {
                          called.release();
                          throw std::bad_alloc{};
                        }};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(called.try_acquire_for(20s));
}

}  // namespace
}  // namespace burn::daemon
