// A recording keeps its inputs on the device. The bytes that only the recording still holds are bounded, and a loop
// still sends the same programs in every iteration.
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

  std::shared_ptr<test::RecordedCalls> calls = std::make_shared<test::RecordedCalls>();
  Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls));
  const TensorData block{std::vector<float>(kElements), {kElements}};

  Tensor<1> upload() const { return Tensor<1>::from_data(block, device); }
};

TEST_F(HeldBytes, CloseARecordingThatAloneKeepsManyUploads) {
  auto sum = Tensor<1>::zeros({1}, device);
  for (std::size_t i = 0; i < 3 * (kFit + 1); ++i) sum = sum + upload().sum();
  EXPECT_EQ(calls->runs.size(), 3u);
  for (const auto& run : calls->runs) EXPECT_LE(run.inputs.size(), kFit + 3);
}

TEST_F(HeldBytes, CloseItAtTheSamePlacesInEveryTurnOfALoop) {
  auto sum = Tensor<1>::zeros({1}, device);
  int defines = 0;
  for (int turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < kFit + kFit / 2; ++i) sum = sum + upload().sum();
    device.flush();
    if (turn == 1) defines = calls->defines;  // the first turn differs: `sum` is then a new tensor
  }
  EXPECT_EQ(calls->defines, defines);
  EXPECT_EQ(calls->runs.size(), 8u);
}

TEST_F(HeldBytes, AreNotThoseThatTheUserHolds) {
  std::vector<Tensor<1>> kept;
  auto sum = Tensor<1>::zeros({1}, device);
  for (std::size_t i = 0; i < 2 * kFit; ++i) {
    kept.push_back(upload());
    sum = sum + kept.back().sum();
  }
  EXPECT_TRUE(calls->runs.empty());
}

TEST_F(HeldBytes, AreNotThoseThatWereThereBefore) {
  std::vector<Tensor<1>> parameters;
  for (std::size_t i = 0; i < 2 * kFit; ++i) parameters.push_back(upload());
  (void)(parameters[0] + 1).to_data();
  const auto runs = calls->runs.size();
  for (auto& parameter : parameters) parameter = parameter * 0.5;  // as an optimizer's step does
  EXPECT_EQ(calls->runs.size(), runs);
  device.flush();
  EXPECT_EQ(calls->runs.size(), runs + 1);
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
  EXPECT_EQ(calls->runs.size(), 2u);
}

}  // namespace
}  // namespace burn
