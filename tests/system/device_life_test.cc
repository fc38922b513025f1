// How long a device lives: connections that are lost and made again, answers that come after the last handle is gone.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burn/burn.h"
#include "client/record/device_state.h"
#include "client/tensor/pending_reads.h"
#include "tests/support/error_of.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class DeviceLife : public ::testing::TestWithParam<const char*> {
 protected:
  static test::Worker& worker() {
    static auto& one = *new test::Worker;  // for all tests; killed by its end at the latest
    return one;
  }
  static void TearDownTestSuite() { worker().kill(); }

  Device open() const { return Device::new_session(worker().url(GetParam())); }
};

// Takes the device some time: 1 for every element.
Tensor<2> slow_ones(const Device& device) {
  auto x = Tensor<2>::full({256, 256}, 1.0 / 256, device);
  for (int i = 0; i < 24; ++i) x = x.matmul(x);
  return x * 256;
}

template <typename Future>
void expect_ones(Future& numbers) {
  ASSERT_EQ(numbers.wait_for(60s), std::future_status::ready);
  const auto values = numbers.get().template to_vec<float>();
  ASSERT_EQ(values.size(), 256u * 256u);
  EXPECT_NEAR(values.front(), 1, 1e-3);
  EXPECT_NEAR(values.back(), 1, 1e-3);
}

TEST_P(DeviceLife, AnAnswerComesThoughTensorAndDeviceHaveGone) {
  std::future<TensorData> numbers;
  {
    const Device device = open();
    numbers = slow_ones(device).to_data_async();
  }
  expect_ones(numbers);
}

TEST_P(DeviceLife, AnAnswerComesThoughAnotherThreadDroppedTheDevice) {
  std::future<TensorData> numbers;
  auto device = std::make_optional(open());
  auto x = std::make_optional(slow_ones(*device));
  numbers = x->to_data_async();
  std::thread([&] {
    x.reset();
    device.reset();
  }).join();
  expect_ones(numbers);
}

TEST_P(DeviceLife, PendingReadsOutliveTheirDevice) {
  PendingReads reads;
  float sum = 0;
  {
    const Device device = open();
    for (int i = 0; i < 3; ++i) {
      reads.add(slow_ones(device).mean(), [&](const TensorData& mean) { sum += mean.as_slice<float>()[0]; });
    }
  }
  reads.finish();
  EXPECT_NEAR(sum, 3, 3e-3);
}

TEST_P(DeviceLife, ManyDevicesEndWithTheirAnswers) {
  std::vector<std::future<TensorData>> all;
  for (int i = 0; i < 16; ++i) {
    const Device device = open();
    all.push_back((Tensor<1>::full({1}, i, device) * 2).to_data_async());
  }
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(i)].get().to_vec<float>()[0], 2.0f * static_cast<float>(i));
}

TEST_P(DeviceLife, AnAnswerThatIsNotTakenHoldsUpNoSession) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const Device device = open();
    (void)slow_ones(device).to_data_async();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_P(DeviceLife, ADeviceGoesWhileMuchIsOnItsWayToIt) {
  const TensorData block(std::vector<float>(std::size_t{4} << 20, 1.0f), {std::int64_t{4} << 20});
  const Device device = open();
  device.state()->reuse_uploads(false);
  std::vector<Tensor<1>> all;
  for (int i = 0; i < 4; ++i) all.push_back(Tensor<1>::from_data(block, device));
}

// The last holder of a device may be a callback of its own session.
TEST_P(DeviceLife, ACallbackMayDropTheLastTensor) {
  std::promise<void> called;
  {
    const Device device = open();
    auto x = std::make_shared<Tensor<2>>(slow_ones(device));
    device.flush();
    device.state()->session().sync([x, &called](Status) mutable {
      x.reset();
      called.set_value();
    });
  }
  EXPECT_EQ(called.get_future().wait_for(60s), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, DeviceLife, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

class LostConnection : public ::testing::TestWithParam<const char*> {};

TEST_P(LostConnection, IsMadeAgainByTheSameUrlWhileOldTensorsSayThatItWasLost) {
  test::Worker worker;
  const std::string url = worker.url(GetParam());
  const Device old{url};
  const auto x = Tensor<1>::from_data({1, 2}, old);
  EXPECT_EQ((x + 1).to_data().to_vec<float>()[1], 3.0f);
  EXPECT_EQ(Device{url}, old);
  worker.kill();
  // No call is made: the connection itself reports it.
  for (int i = 0; i < 1000 && old.state()->health().ok(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_THAT(old.state()->health().message(), HasSubstr("lost connection to " + url));
  EXPECT_THAT(test::error_of([&] { (void)Device{url}; }), HasSubstr(url));  // no worker is there
  worker.start();
  ASSERT_EQ(worker.url(GetParam()), url);

  const Device fresh{url};
  EXPECT_FALSE(fresh == old);
  EXPECT_EQ(Device{url}, fresh);
  const auto y = Tensor<1>::from_data({1, 2}, fresh);
  EXPECT_EQ((y + 1).to_data().to_vec<float>()[1], 3.0f);
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { (void)(x + 1).to_data(); }, [&] { old.sync(); },
                                          [&] { (void)x.to_data_async().get(); }, [&] { (void)(x + y); },
                                          [&] {
                                            (void)Tensor<1>::from_data({1, 2}, old);
                                          }}) {
    EXPECT_THAT(test::error_of(call), HasSubstr("lost connection to " + url));
  }
  EXPECT_EQ((y + 2).to_data().to_vec<float>()[1], 4.0f);
}

TEST_P(LostConnection, EndsEveryReadThatWaits) {
  test::Worker worker;
  const Device device = Device::new_session(worker.url(GetParam()));
  std::vector<std::future<TensorData>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(slow_ones(device).to_data_async());
  worker.kill();
  for (auto& numbers : waiting) EXPECT_EQ(numbers.wait_for(20s), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, LostConnection, ::testing::ValuesIn(test::kNetworkSchemes),
                         test::kSchemeName);

}  // namespace
}  // namespace burn
