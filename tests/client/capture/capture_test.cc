// Captured steps, checked by the calls that the session receives: which are recorded, replayed, refused.
#include "client/capture/capture.h"

#include <bit>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "client/record/device_state.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

class Capture : public ::testing::Test {
 protected:
  std::shared_ptr<test::RecordedCalls> calls = std::make_shared<test::RecordedCalls>();
  Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls));

  Tensor<1> vector(float x = 0) { return Tensor<1>::from_data({x, 1, 2}, device); }
  double scalar(std::size_t run, std::size_t slot) {
    return std::bit_cast<double>(calls->runs.at(run).scalars.at(slot));
  }

  template <typename Body>
  static std::string message_of(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Capture, RecordsTwiceAndThenReplays) {
  auto step = capture(device, [](const Tensor<1>& x) { return x * 2 + 1; });
  const auto x = vector();
  for (int i = 0; i < 5; ++i) (void)step(x);
  EXPECT_EQ(step.recorded(), 2u);
  EXPECT_EQ(step.replayed(), 3u);
  ASSERT_EQ(calls->runs.size(), 5u);
  EXPECT_EQ(calls->defines, 1);
  for (const auto& run : calls->runs) {
    EXPECT_EQ(run.inputs, calls->runs[0].inputs);
    EXPECT_EQ(run.scalars, calls->runs[0].scalars);
  }
}

TEST_F(Capture, BindsTheTensorsOfEachCallAndItsResultsToTheSameVariables) {
  auto step = capture(device, [](Tensor<1>& state, const Tensor<1>& x) { state = state + x; });
  auto state = vector();
  for (int i = 0; i < 6; ++i) {
    const auto x = vector();
    const auto x_id = calls->written.back();
    const auto before = device.state()->materialise(*state.value().storage());
    step(state, x);
    const auto& run = calls->runs.back();
    EXPECT_EQ(run.inputs, (std::vector<proto::TensorId>{before, x_id}));
    EXPECT_EQ(device.state()->materialise(*state.value().storage()), run.first_output);
  }
  EXPECT_EQ(step.replayed(), 4u);
}

TEST_F(Capture, GivesAwayStateThatOnlyItHoldsAndKeepsWhatTheCallerHolds) {
  auto step = capture(device, [](Tensor<1>& state) { state = state * 2; });
  auto state = vector();
  for (int i = 0; i < 3; ++i) step(state);
  const auto kept = state;
  const auto kept_id = device.state()->materialise(*kept.value().storage());
  step(state);  // `kept` still holds it
  EXPECT_FALSE(calls->program_of(3).inputs[0].donated);
  step(state);
  EXPECT_TRUE(calls->program_of(4).inputs[0].donated);
  EXPECT_EQ(calls->released, std::vector<proto::TensorId>{});
  EXPECT_EQ(device.state()->materialise(*kept.value().storage()), kept_id);
  EXPECT_EQ(step.replayed(), 3u);
}

TEST_F(Capture, ATensorThatIsGivenAsATemporaryMayBeGivenAway) {
  auto step = capture(device, [](Tensor<1> x) { return x + 1; });
  for (int i = 0; i < 4; ++i) (void)step(vector());
  EXPECT_TRUE(calls->program_of(3).inputs[0].donated);
}

TEST_F(Capture, ANumberIsGivenAnewWithEachCall) {
  auto step = capture(device, [](const Tensor<1>& x, Scalar rate) { return x * rate + 0.5; });
  const auto x = vector();
  for (int i = 0; i < 5; ++i) {
    (void)step(x, i * 0.25);
    EXPECT_EQ(scalar(static_cast<std::size_t>(i), 0), i * 0.25);
    EXPECT_EQ(scalar(static_cast<std::size_t>(i), 1), 0.5);
  }
  EXPECT_EQ(step.replayed(), 3u);
}

TEST_F(Capture, OtherShapesAreRecordedForThemselves) {
  auto step = capture(device, [](const Tensor<1>& x) { return x.sum(); });
  const auto small = vector(), large = Tensor<1>::from_data({1, 2, 3, 4}, device);
  for (int i = 0; i < 4; ++i) {
    (void)step(small);
    (void)step(large);
  }
  EXPECT_EQ(step.recorded(), 4u);
  EXPECT_EQ(step.replayed(), 4u);
}

TEST_F(Capture, TheShapeUsedLeastRecentlyIsForgottenWhereThereAreMany) {
  auto step = capture(device, [](const Tensor<1>& x) { return x.sum(); });
  const auto call = [&](std::size_t size) { (void)step(Tensor<1>::zeros({static_cast<std::int64_t>(size)}, device)); };
  constexpr auto kMax = client::CaptureEngine::kMaxRecordings;
  const auto call_all = [&](std::size_t first, std::size_t last) {
    for (std::size_t size = first; size <= last; ++size) call(size);
  };
  call_all(1, kMax);
  call_all(1, kMax);
  call_all(1, kMax);
  EXPECT_EQ(step.recorded(), 2 * kMax);
  EXPECT_EQ(step.replayed(), kMax);
  call(1);
  call(kMax + 1);  // replaces the recording of size 2
  call(1);
  call_all(3, kMax);
  EXPECT_EQ(step.recorded(), 2 * kMax + 1);
  call(2);
  EXPECT_EQ(step.recorded(), 2 * kMax + 2);
}

TEST_F(Capture, TheSameTensorTwiceIsNotTakenForTwoTensors) {
  auto step = capture(device, [](const Tensor<1>& a, const Tensor<1>& b) { return a - b; });
  const auto a = vector(), b = vector();
  for (int i = 0; i < 3; ++i) (void)step(a, a);
  for (int i = 0; i < 3; ++i) (void)step(a, b);
  EXPECT_EQ(calls->runs.back().inputs.size(), 2u);
  EXPECT_EQ(step.recorded(), 4u);
}

TEST_F(Capture, VariablesMayChangePlaces) {
  auto step = capture(device, [](Tensor<1>& a, Tensor<1>& b) {
    std::swap(a, b);
    b = b + 1;
  });
  auto a = vector(), b = vector();
  for (int i = 0; i < 4; ++i) {
    const auto a_id = device.state()->materialise(*a.value().storage());
    const auto b_id = device.state()->materialise(*b.value().storage());
    step(a, b);
    EXPECT_EQ(device.state()->materialise(*a.value().storage()), b_id);
    EXPECT_EQ(calls->runs.back().inputs, std::vector<proto::TensorId>{a_id});
  }
  EXPECT_EQ(step.replayed(), 2u);
}

TEST_F(Capture, RandomNumbersMoveOnAsTheyWereRecorded) {
  auto step = capture(device, [](const Tensor<1>& x) { return x + x.random_like(Distribution::uniform(0, 1)); });
  device.seed(5);
  const auto x = vector();
  for (int i = 0; i < 4; ++i) (void)step(x);
  (void)Tensor<1>::random({4}, Distribution::uniform(0, 1), device).to_data();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(calls->runs[i].seed, 5u);
    EXPECT_EQ(calls->runs[i].random_offset, i);  // three numbers take one block
  }
}

TEST_F(Capture, WhatWasRecordedBeforeIsSentFirst) {
  auto step = capture(device, [](const Tensor<1>& x) { return x * 2; });
  const auto x = vector();
  for (int i = 0; i < 3; ++i) (void)step(x + i);
  ASSERT_EQ(calls->runs.size(), 6u);
  EXPECT_EQ(calls->runs[5].inputs, std::vector<proto::TensorId>{calls->runs[4].first_output});
}

TEST_F(Capture, RefusesATensorThatIsNoArgument) {
  const auto outside = vector();
  auto step = capture(device, [&](const Tensor<1>& x) { return x + outside; });
  const auto text = message_of([&] { (void)step(vector()); });
  EXPECT_THAT(text, HasSubstr("not one of its arguments"));
  EXPECT_THAT(text, HasSubstr("capture_test.cc:"));
}

TEST_F(Capture, RefusesToKeepATensorOutside) {
  Tensor<1> total = vector(), last;
  auto adds = capture(device, [&](const Tensor<1>& x) {
    last = x * 2;
    return x + 1;
  });
  const auto x = vector();
  EXPECT_THAT(message_of([&] { (void)adds(x); }), HasSubstr("kept outside"));
  // The recording then continues as one without capture: the tensor that the step assigned can be read.
  EXPECT_EQ(last.to_data().num_elements(), 3u);
}

TEST_F(Capture, RefusesANumberThatChangesBehindItsBack) {
  double rate = 0;
  auto step = capture(device, [&](const Tensor<1>& x) { return x * (rate += 0.5); });
  const auto x = vector();
  (void)step(x);
  const auto text = message_of([&] { (void)step(x); });
  EXPECT_THAT(text, HasSubstr("1.0"));
  EXPECT_THAT(text, HasSubstr("instead of 0.5"));
  EXPECT_THAT(text, HasSubstr("must be an argument"));
}

TEST_F(Capture, RefusesABranchThatChangesBehindItsBack) {
  int call_count = 0;
  auto step = capture(device, [&](const Tensor<1>& x) { return call_count++ == 0 ? x + 1 : x.exp(); });
  const auto x = vector();
  (void)step(x);
  EXPECT_THAT(message_of([&] { (void)step(x); }), HasSubstr("other operations"));
}

TEST_F(Capture, WhenAskedChecksEveryCall) {
  ::setenv("BURN_CAPTURE", "check", 1);
  double rate = 0.5;
  auto step = capture(device, [&](const Tensor<1>& x) { return x * rate; });
  ::unsetenv("BURN_CAPTURE");
  const auto x = vector();
  for (int i = 0; i < 5; ++i) (void)step(x);
  EXPECT_EQ(step.replayed(), 0u);
  rate = 0.25;
  EXPECT_THAT(message_of([&] { (void)step(x); }), HasSubstr("0.250000 instead of 0.500000"));
}

TEST_F(Capture, RefusesToReadOrUploadInside) {
  auto reads = capture(device, [](const Tensor<1>& x) { return x * (x.sum().into_scalar<float>()); });
  EXPECT_THAT(message_of([&] { (void)reads(vector()); }), HasSubstr("read before it has ended"));
  auto uploads = capture(device, [&](const Tensor<1>& x) { return x + vector(); });
  EXPECT_THAT(message_of([&] { (void)uploads(vector()); }), HasSubstr("uploaded inside"));
  EXPECT_EQ((vector() + 1).to_data().num_elements(), 3u);  // the device is still usable
}

TEST_F(Capture, RefusesANumberWrittenIntoTheProgram) {
  auto step = capture(device, [](const Tensor<1>& x, Scalar n) {
    return Tensor<1>{client::pad(x.value(), std::array{std::pair<std::int64_t, std::int64_t>{1, 1}}, n, {})};
  });
  EXPECT_THAT(message_of([&] { (void)step(vector(), 1.0); }), HasSubstr("cannot be written into its program"));
}

TEST_F(Capture, AnExceptionOfTheStepLeavesAnOrdinaryRecording) {
  bool fails = true;
  auto step = capture(device, [&](const Tensor<1>& x) {
    auto y = x + 1;
    if (fails) throw std::runtime_error("no");
    return y;
  });
  const auto x = vector();
  EXPECT_THROW((void)step(x), std::runtime_error);
  fails = false;
  for (int i = 0; i < 3; ++i) (void)step(x);
  EXPECT_EQ(step.replayed(), 1u);
}

TEST_F(Capture, GradientsAreTakenInsideAndResultsComeWithoutATape) {
  const Device ad = device.autodiff();
  auto step = capture(ad, [](Tensor<1>& w, const Tensor<1>& x, Scalar lr) {
    const auto loss = (w * x).sum();
    const auto gradients = loss.backward();
    w = Tensor<1>::from_inner(w.inner() - *w.grad(gradients) * lr).require_grad();
    return loss;
  });
  auto w = Tensor<1>::from_data({1, 2, 3}, ad).require_grad();
  for (int i = 0; i < 4; ++i) {
    const auto loss = step(w, Tensor<1>::from_data({1, 2, 3}, ad), 0.1 * i);
    EXPECT_FALSE(loss.value().is_tracked());
    EXPECT_TRUE(w.is_require_grad());
  }
  EXPECT_EQ(step.replayed(), 2u);
  EXPECT_THAT(message_of([&] { (void)step(w, w * 2, 0.1); }), HasSubstr("detach() it"));
}

}  // namespace
}  // namespace burn
