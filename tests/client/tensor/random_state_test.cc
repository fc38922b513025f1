// The state of a device's random numbers, for programs that write their own checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "client/tensor/tensor.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using ::testing::HasSubstr;
using ::testing::Ne;

std::vector<float> drawn(const Device& device, std::int64_t count = 5) {
  return Tensor<1>::random({count}, Distribution::normal(0, 1), device).to_data().to_vec<float>();
}

TEST(RandomState, TheSameNumbersFollow) {
  const Device device{"cpu"};
  device.seed(3);
  (void)drawn(device, 7);
  const RandomState state = device.random_state();
  EXPECT_EQ(state.seed, 3u);
  const auto first = drawn(device), second = drawn(device, 100);
  const Device elsewhere = Device::new_session("cpu");
  elsewhere.set_random_state({.seed = state.seed, .position = state.position});
  EXPECT_EQ(drawn(elsewhere), first);
  EXPECT_EQ(drawn(elsewhere, 100), second);
  device.set_random_state(state);
  EXPECT_EQ(drawn(device), first);
}

TEST(RandomState, CountsWhatIsRecordedAndNotYetSent) {
  const Device device = Device::new_session("cpu");
  device.seed(3);
  EXPECT_EQ(device.random_state(), (RandomState{.seed = 3, .position = 0}));
  const auto recorded = Tensor<1>::random({9}, Distribution::uniform(0, 1), device);
  const auto state = device.random_state();
  EXPECT_EQ(state.position, 3u);  // in blocks of four numbers
  EXPECT_EQ(device.random_state(), state) << "to ask changes nothing";
  const auto next = drawn(device);
  device.set_random_state(state);
  EXPECT_EQ(drawn(device), next);
}

TEST(RandomState, WhatIsRecordedBeforeItIsSetDrawsFromTheOldOne) {
  const Device device = Device::new_session("cpu");
  device.seed(3);
  const auto expected = drawn(device);
  device.seed(3);
  const auto recorded = Tensor<1>::random({5}, Distribution::normal(0, 1), device);
  device.set_random_state({.seed = 4, .position = 17});
  EXPECT_EQ(recorded.to_data().to_vec<float>(), expected);
}

TEST(RandomState, OfADeviceThatWasNeverSeeded) {
  const Device device = Device::new_session("cpu");
  const auto state = device.random_state();
  const auto numbers = drawn(device);
  device.set_random_state(state);
  EXPECT_EQ(drawn(device), numbers);
  EXPECT_THAT(Device::new_session("cpu").random_state().seed, Ne(state.seed));
}

TEST(RandomState, CapturedStepsGoOnFromIt) {
  const Device device = Device::new_session("cpu");
  const auto make = [&] {
    return capture(device,
                   [](Tensor<1>& x) { x = x + Tensor<1>::random({6}, Distribution::normal(0, 1), x.device()); });
  };
  device.seed(5);
  auto x = Tensor<1>::zeros({6}, device);
  auto step = make();
  for (int i = 0; i < 5; ++i) step(x);
  const auto kept = x.to_data();
  const auto state = device.random_state();
  for (int i = 0; i < 4; ++i) step(x);
  const auto expected = x.to_data();

  auto again = Tensor<1>::from_data(kept, device);
  device.set_random_state(state);
  for (int i = 0; i < 4; ++i) step(again);  // replays the recording
  EXPECT_EQ(again.to_data(), expected);

  again = Tensor<1>::from_data(kept, device);
  auto anew = make();  // records again, as after a restart
  device.set_random_state(state);
  for (int i = 0; i < 4; ++i) anew(again);
  EXPECT_EQ(again.to_data(), expected);
}

TEST(RandomState, IsNoBusinessOfACapturedStep) {
  const Device device = Device::new_session("cpu");
  auto x = Tensor<1>::zeros({1}, device);
  auto asks = capture(device, [&](Tensor<1>& y) { y = y + 1, (void)device.random_state(); });
  EXPECT_THAT(test::error_of([&] { asks(x); }), HasSubstr("captured step"));
  auto sets = capture(device, [&](Tensor<1>& y) { y = y + 1, device.set_random_state({}); });
  EXPECT_THAT(test::error_of([&] { sets(x); }), HasSubstr("captured step"));
}

}  // namespace
}  // namespace burn
