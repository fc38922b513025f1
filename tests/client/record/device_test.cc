// The calls that a client makes on its session: when programs are sent, which data are uploaded, which inputs donated.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/notice.h"
#include "client/record/device_state.h"
#include "client/record/recording.h"
#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Recording : public ::testing::Test {
 protected:
  std::shared_ptr<test::RecordedCalls> calls = std::make_shared<test::RecordedCalls>();
  Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls));

  Tensor<2> matrix() { return Tensor<2>::from_data({{1, 2}, {3, 4}}, device); }
};

TEST_F(Recording, NothingIsSentUntilSomethingIsRead) {
  const auto x = matrix();
  const auto y = (x + x).exp();
  EXPECT_TRUE(calls->runs.empty());
  (void)y.to_data();
  ASSERT_EQ(calls->runs.size(), 1u);
  EXPECT_EQ(calls->program_of(0).nodes.size(), 2u);
}

TEST_F(Recording, OnlyValuesThatAreStillHeldBecomeOutputs) {
  const auto x = matrix();
  auto kept = (x + x).exp();
  device.flush();
  EXPECT_EQ(calls->program_of(0).outputs.size(), 1u);
}

TEST_F(Recording, AProgramWhoseResultsAreNotHeldIsNotRun) {
  const auto x = matrix();
  (void)(x + x);
  device.flush();
  EXPECT_TRUE(calls->runs.empty());
}

TEST_F(Recording, TheSameStepIsDefinedOnceAndThenOnlyRun) {
  auto x = matrix();
  for (int step = 0; step < 5; ++step) {
    x = x * 2 + 1;
    device.flush();
  }
  EXPECT_EQ(calls->runs.size(), 5u);
  EXPECT_EQ(calls->defines, 1);
}

TEST_F(Recording, AScalarIsGivenWithTheRunAndNotWrittenIntoTheProgram) {
  auto x = matrix();
  for (int step = 0; step < 3; ++step) {
    x = x * step;
    device.flush();
  }
  EXPECT_EQ(calls->defines, 1);
  EXPECT_EQ(std::bit_cast<double>(calls->runs[2].scalars.at(0)), 2.0);
}

TEST_F(Recording, AnInputThatIsNotHeldAnyMoreIsDonatedAndAHeldInputIsNot) {
  auto x = matrix();
  const auto held = matrix();
  x = x + held;
  device.flush();
  const auto& program = calls->program_of(0);
  ASSERT_EQ(program.inputs.size(), 2u);
  EXPECT_TRUE(program.inputs[0].donated);
  EXPECT_FALSE(program.inputs[1].donated);
  EXPECT_THAT(calls->released, Not(Contains(calls->runs[0].inputs[0])));  // a donated input needs no release
}

TEST_F(Recording, ADroppedTensorIsReleasedWithTheNextRun) {
  auto x = matrix();
  proto::TensorId id = 0;
  {
    const auto unused = matrix();
    id = calls->written.back();
  }
  EXPECT_THAT(calls->released, Not(Contains(id)));
  x = x + x;
  device.flush();
  EXPECT_THAT(calls->released, Contains(id));
}

TEST_F(Recording, UsingAPendingTensorOfAnotherThreadClosesItsProgramFirst) {
  const auto x = matrix();
  Tensor<2> theirs;
  std::thread([&] { theirs = x + x; }).join();
  const auto mine = theirs * x;
  ASSERT_EQ(calls->runs.size(), 1u);
  device.flush();
  ASSERT_EQ(calls->runs.size(), 2u);
  EXPECT_THAT(calls->runs[1].inputs, Contains(calls->runs[0].first_output));
}

TEST_F(Recording, ATensorDroppedOnOneThreadWhileAnotherSendsItsProgramIsFreedOnce) {
  for (int round = 0; round < 200; ++round) {
    auto x = matrix();
    std::atomic<bool> is_recorded = false;
    std::thread theirs([&, x]() mutable {
      const auto y = x + 1;
      x = {};
      is_recorded = true;
      device.flush();
    });
    while (!is_recorded) std::this_thread::yield();
    x = {};  // may happen while the other thread decides whether to donate it
    theirs.join();
  }
  device.sync();
  const std::set<proto::TensorId> released(calls->released.begin(), calls->released.end());
  EXPECT_EQ(released.size(), calls->released.size());
}

TEST_F(Recording, ARecordingHandedToAnotherThreadBecomesPartOfItsProgram) {
  const auto x = matrix();
  Tensor<2> theirs;
  std::optional<client::DetachedRecording> recording;
  std::thread([&] {
    theirs = x * 3 + 1;
    recording.emplace(client::DetachedRecording::detach(device));
  }).join();
  recording->adopt();
  const auto mine = theirs * x;
  theirs = {};
  device.flush();
  ASSERT_EQ(calls->runs.size(), 1u);
  EXPECT_EQ(calls->runs[0].scalars.size(), 2u);
  EXPECT_EQ(calls->program_of(0).outputs.size(), 1u);
}

TEST_F(Recording, ARecordingThatNoThreadAdoptsIsSentWhenItsTensorIsUsed) {
  const auto x = matrix();
  Tensor<2> theirs;
  std::thread([&] {
    theirs = x * 3;
    (void)client::DetachedRecording::detach(device);
  }).join();
  (void)theirs.to_data();
  EXPECT_EQ(calls->runs.size(), 1u);
}

TEST_F(Recording, RandomNumbersMoveOnAndTheSeedStartsThemAnew) {
  auto draw = [&] {
    const auto x = Tensor<1>::random({10}, Distribution::uniform(0, 1), device);
    device.flush();
    return calls->runs.back();
  };
  device.seed(7);
  const auto first = draw(), second = draw();
  device.seed(7);
  const auto again = draw();
  EXPECT_EQ(first.seed, 7u);
  EXPECT_EQ(first.random_offset, 0u);
  EXPECT_EQ(second.random_offset, 3u);  // ten numbers take three blocks of four
  EXPECT_EQ(again.random_offset, first.random_offset);
  EXPECT_EQ(calls->defines, 1);
}

TEST_F(Recording, ALongRecordingIsClosedWithoutBeingAsked) {
  auto x = matrix();
  for (std::size_t i = 0; i <= client::Recorders::kMaxRecorded; ++i) x = x.exp();
  EXPECT_EQ(calls->runs.size(), 1u);
}

TEST_F(Recording, ADeviceGoesThoughARecordingWasNeverWanted) {
  {
    const Device other = Device::from_session("other", std::make_unique<test::RecordingSession>(calls));
    const auto x = Tensor<2>::from_data({{1, 2}, {3, 4}}, other);
    (void)(x + x.exp());
    EXPECT_EQ(calls->closes, 0);
  }
  EXPECT_EQ(calls->closes, 1);
  EXPECT_EQ(calls->runs.size(), 0u);
}

TEST_F(Recording, AnErrorNamesShapesAndTheLineOfTheCall) {
  const auto a = Tensor<2>::zeros({2, 3}, device);
  const auto b = Tensor<2>::zeros({4, 5}, device);
  try {
    (void)a.matmul(b);
    FAIL() << "matmul of [2, 3] with [4, 5] went through";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("matmul"));
    EXPECT_THAT(error.what(), HasSubstr("f32[2, 3]"));
    EXPECT_THAT(error.what(), HasSubstr("f32[4, 5]"));
    EXPECT_THAT(error.what(), HasSubstr("device_test.cc:"));
  }
  EXPECT_THROW((void)(a + b), Error);
}

TEST_F(Recording, AFailedCallLeavesTheRecordingUsable) {
  const auto a = Tensor<2>::zeros({2, 3}, device);
  EXPECT_THROW((void)a.matmul(a), Error);
  (void)(a + 1).to_data();
  EXPECT_EQ(calls->runs.size(), 1u);
}

TEST_F(Recording, ANoticeIsWhatTheSessionHasAnnouncedWhateverItsKind) {
  EXPECT_FALSE(notice_of(device).has_value());
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  calls->announced_end = end;
  const auto notice = notice_of(device);
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->url, "test");
  EXPECT_EQ(notice->end, end);
}

TEST_F(Recording, TensorsOfTwoDevicesDoNotMix) {
  const Device other = Device::from_session("other", std::make_unique<test::RecordingSession>(calls));
  const auto a = matrix();
  const auto b = Tensor<2>::from_data({{1, 2}, {3, 4}}, other);
  try {
    (void)(a + b);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("test and other"));
  }
}

TEST_F(Recording, ThreadsRecordSideBySide) {
  const auto x = matrix();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto y = x;
      for (int i = 0; i < 200; ++i) {
        y = y * 2 + x;
        if (i % 10 == 0) device.flush();
      }
      (void)y.to_data();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(calls->read.size(), 4u);
}

}  // namespace
}  // namespace burn
