// Functions that are called once a device, here a counter that the test moves on, has come so far.
#include "backends/gpu/completion_thread.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

namespace burn::backends {
namespace {

class FakeDevice {
 public:
  void advance_to(int point) {
    const std::lock_guard lock(mutex_);
    reached_ = point;
    changed_.notify_all();
  }
  void fail(Status failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    changed_.notify_all();
  }
  Status wait(int point) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= point || !failure_.ok(); });
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int reached_ = 0;
  Status failure_;
};

class CompletionThreads : public ::testing::Test {
 protected:
  CompletionThread<int>::Wait waiting() {
    return [this](int point) { return device_.wait(point); };
  }

  FakeDevice device_;
};

TEST_F(CompletionThreads, CallFunctionsInTheOrderInWhichTheyWereAdded) {
  std::vector<int> called;
  {
    CompletionThread<int> thread("test-device", waiting());
    for (const int point : {1, 2, 2, 5}) {
      thread.add(point, [&called, point](const Status& device) {
        EXPECT_TRUE(device.ok());
        called.push_back(point);
      });
    }
    device_.advance_to(5);
  }
  EXPECT_EQ(called, (std::vector{1, 2, 2, 5})) << "the destructor returns after the last function";
}

TEST_F(CompletionThreads, CallAFunctionOnlyWhenTheDeviceHasComeSoFar) {
  CompletionThread<int> thread("test-device", waiting());
  std::mutex mutex;
  std::condition_variable changed;
  int last = 0;
  const auto remember = [&](int point) {
    return [&, point](const Status&) {
      const std::lock_guard lock(mutex);
      last = point;
      changed.notify_all();
    };
  };
  thread.add(1, remember(1));
  thread.add(2, remember(2));
  device_.advance_to(1);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return last >= 1; });
  EXPECT_EQ(last, 1);
  device_.advance_to(2);
  changed.wait(lock, [&] { return last >= 2; });
}

TEST_F(CompletionThreads, GiveTheFailureOfTheDeviceToEveryFunctionThatIsLeft) {
  std::vector<Status> seen;
  {
    CompletionThread<int> thread("test-device", waiting());
    for (const int point : {1, 2}) {
      thread.add(point, [&seen](const Status& device) { seen.push_back(device); });
    }
    device_.fail(unavailable("the device is lost"));
  }
  ASSERT_EQ(seen.size(), 2u);
  for (const auto& status : seen) EXPECT_EQ(status.message(), "the device is lost");
}

TEST_F(CompletionThreads, FreeWhatAFunctionKeepsBeforeTheyWaitForTheNextPoint) {
  const auto kept = std::make_shared<int>(0);
  long holders_at_second_wait = 0;
  {
    CompletionThread<int> thread("test-device", [&](int point) {
      if (point == 2) holders_at_second_wait = kept.use_count();
      return device_.wait(point);
    });
    thread.add(1, [kept](const Status&) {});
    thread.add(2, [](const Status&) {});
    device_.advance_to(2);
  }
  EXPECT_EQ(holders_at_second_wait, 1);
}

TEST_F(CompletionThreads, PrepareTheirThreadBeforeTheFirstWait) {
  std::thread::id prepared, waited;
  {
    CompletionThread<int> thread(
        "test-device",
        [&](int) {
          waited = std::this_thread::get_id();
          return ok_status();
        },
        [&] { prepared = std::this_thread::get_id(); });
    thread.add(1, [](const Status&) {});
  }
  EXPECT_EQ(prepared, waited);
  EXPECT_NE(prepared, std::this_thread::get_id());
}

}  // namespace
}  // namespace burn::backends
