// A recording keeps its inputs on the device. What only the recording holds any more is bounded, without the loop
// losing its rhythm.
#include <thread>

#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "client/record/recording.h"
#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

class HeldBytes : public ::testing::Test {
 protected:
  static constexpr std::int64_t kElements = std::int64_t{4} << 20;  // 16 MiB
  static constexpr std::size_t kFit = client::Recorders::kMaxHeldBytes / (4 * kElements);

  std::shared_ptr<test::RecordedCalls> told = std::make_shared<test::RecordedCalls>();
  Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(told));
  const TensorData block{std::vector<float>(kElements), {kElements}};

  Tensor<1> upload() const { return Tensor<1>::from_data(block, device); }
};

TEST_F(HeldBytes, CloseARecordingThatAloneKeepsManyUploads) {
  auto sum = Tensor<1>::zeros({1}, device);
  for (std::size_t i = 0; i < 3 * (kFit + 1); ++i) sum = sum + upload().sum();
  EXPECT_EQ(told->runs.size(), 3u);
  for (const auto& run : told->runs) EXPECT_LE(run.inputs.size(), kFit + 3);
}

TEST_F(HeldBytes, CloseItAtTheSamePlacesInEveryTurnOfALoop) {
  auto sum = Tensor<1>::zeros({1}, device);
  int defines = 0;
  for (int turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < kFit + kFit / 2; ++i) sum = sum + upload().sum();
    device.flush();
    if (turn == 1) defines = told->defines;  // the first finds `sum` as no later one does
  }
  EXPECT_EQ(told->defines, defines);
  EXPECT_EQ(told->runs.size(), 8u);
}

TEST_F(HeldBytes, AreNotThoseThatTheUserHolds) {
  std::vector<Tensor<1>> kept;
  auto sum = Tensor<1>::zeros({1}, device);
  for (std::size_t i = 0; i < 2 * kFit; ++i) {
    kept.push_back(upload());
    sum = sum + kept.back().sum();
  }
  EXPECT_TRUE(told->runs.empty());
}

TEST_F(HeldBytes, AreNotThoseThatWereThereBefore) {
  std::vector<Tensor<1>> parameters;
  for (std::size_t i = 0; i < 2 * kFit; ++i) parameters.push_back(upload());
  (void)(parameters[0] + 1).to_data();
  const auto runs = told->runs.size();
  for (auto& parameter : parameters) parameter = parameter * 0.5;  // a step of an optimizer, say
  EXPECT_EQ(told->runs.size(), runs);
  device.flush();
  EXPECT_EQ(told->runs.size(), runs + 1);
}

TEST_F(HeldBytes, OfABatchThatAnotherThreadPreparedCountWhereItIsUsed) {
  auto sum = Tensor<1>::zeros({1}, device);
  for (std::size_t i = 0; i < 2 * kFit; ++i) {
    Tensor<1> batch;
    std::optional<client::DetachedRecording> recording;
    std::thread([&] {
      batch = upload() / 255;
      recording.emplace(client::DetachedRecording::detach(device));
    }).join();
    recording->adopt();
    sum = sum + batch.sum();
  }
  EXPECT_EQ(told->runs.size(), 2u);
}

}  // namespace
}  // namespace burn
