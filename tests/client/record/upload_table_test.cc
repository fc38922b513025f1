// Uploads of equal bytes: sent once, as long as the device holds them.
#include <thread>

#include <gtest/gtest.h>

#include "client/batch_scope.h"
#include "client/capture/capture.h"
#include "client/record/device_state.h"
#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

class ReusedUploads : public ::testing::Test {
 protected:
  static TensorData data(float first, std::size_t count = 2048) {
    std::vector<float> values(count, 1.0f);
    values[0] = first;
    return {std::move(values), {static_cast<std::int64_t>(count)}};
  }
  Tensor<1> upload(float first) { return Tensor<1>::from_data(data(first), device); }
  std::size_t writes() const { return calls->written.size(); }

  static std::shared_ptr<test::RecordedCalls> remote() {
    auto calls = std::make_shared<test::RecordedCalls>();
    calls->traits = {.is_remote = true};
    return calls;
  }

  std::shared_ptr<test::RecordedCalls> calls = remote();
  Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls));
};

TEST_F(ReusedUploads, TheSameBytesAreSentOnce) {
  const auto a = upload(1), b = upload(1), other = upload(2);
  EXPECT_EQ(writes(), 2u);
  EXPECT_EQ(a.value().storage(), b.value().storage());
  EXPECT_EQ(device.state()->stats().uploads_reused, 1u);
}

TEST_F(ReusedUploads, AreNotLookedForWhereThatCostsMoreThanSendingThem) {
  const auto count = client::UploadTable::kMaxBytesInMemory / sizeof(float) + 1;
  const auto send_twice = [&] {
    const auto before = writes();
    const auto a = Tensor<1>::from_data(data(1, count), device), b = Tensor<1>::from_data(data(1, count), device);
    return writes() - before;
  };
  EXPECT_EQ(send_twice(), 1u);
  calls->traits.shares_memory = true;
  EXPECT_EQ(send_twice(), 2u);
}

TEST(Uploads, ToASessionInThisProcessAreNotLookedFor) {
  const auto calls = std::make_shared<test::RecordedCalls>();
  const auto device = Device::from_session("ws://looks-remote", std::make_unique<test::RecordingSession>(calls));
  const TensorData data{std::vector<float>(2048, 1.0f), {2048}};
  const auto a = Tensor<1>::from_data(data, device), b = Tensor<1>::from_data(data, device);
  EXPECT_EQ(calls->written.size(), 2u);
}

TEST_F(ReusedUploads, AreFoundAmongMoreThanAreCompared) {
  constexpr int kCount = 3 * static_cast<int>(client::UploadTable::kMaxHeld);
  std::vector<Tensor<1>> all;
  all.reserve(kCount);
  for (int i = 0; i < kCount; ++i) all.push_back(upload(static_cast<float>(i)));
  EXPECT_EQ(writes(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(upload(static_cast<float>(i)).value().storage(), all[i].value().storage());
  all.erase(all.begin(), all.begin() + 2);  // frees two entries that are compared; those known by digest remain
  const auto first = upload(0), again = upload(0);
  EXPECT_EQ(writes(), static_cast<std::size_t>(kCount) + 1);
  EXPECT_EQ(first.value().storage(), again.value().storage());
  EXPECT_EQ(upload(kCount - 1).value().storage(), all.back().value().storage());
}

TEST_F(ReusedUploads, LargeOnesAreKnownByDigest) {
  const auto large = [&](float first) { return Tensor<1>::from_data(data(first, 1 << 20), device); };
  const auto a = large(1), b = large(1), other = large(2);
  EXPECT_EQ(writes(), 2u);
  EXPECT_EQ(a.value().storage(), b.value().storage());
}

TEST_F(ReusedUploads, WhatDiffersInItsLastByteIsAnotherTensor) {
  auto values = std::vector<float>(2048, 1.0f);
  const auto a = Tensor<1>::from_data(TensorData(values, {2048}), device);
  values.back() = 2;
  const auto b = Tensor<1>::from_data(TensorData(values, {2048}), device);
  EXPECT_EQ(writes(), 2u);
}

TEST_F(ReusedUploads, AnotherShapeOrDTypeIsAnotherTensor) {
  const auto a = upload(1);
  const auto reshaped = Tensor<2>::from_data(data(1).reshape({2, 1024}), device);
  const auto bits = Tensor<1, Int>::from_data(TensorData::from_bytes(data(1).bytes(), {2048}, DType::i32), device);
  EXPECT_EQ(writes(), 3u);
}

TEST_F(ReusedUploads, ABatchIsAnotherTensorThanTheSameBytesAlone) {
  for (const std::size_t count : {std::size_t{2048}, std::size_t{1} << 20}) {  // compared; known by digest
    const auto before = writes();
    const auto send = [&] { return Tensor<1>::from_data(data(1, count), device); };
    const auto send_batch = [&] {
      const BatchScope scope;
      return send();
    };
    const auto alone = send(), batch = send_batch(), alone_again = send(), batch_again = send_batch();
    EXPECT_EQ(writes(), before + 2);
    EXPECT_EQ(alone.value().storage(), alone_again.value().storage());
    EXPECT_EQ(batch.value().storage(), batch_again.value().storage());
  }
}

TEST_F(ReusedUploads, WhatIsReleasedIsSentAgain) {
  { const auto a = upload(1); }
  const auto b = upload(1);
  EXPECT_EQ(writes(), 2u);
}

TEST_F(ReusedUploads, WhatWasGivenAwayToARunIsSentAgain) {
  auto x = upload(1);
  x = x + 1;  // the only handle of the uploaded tensor is gone
  const auto again = upload(1);
  device.flush();
  EXPECT_TRUE(calls->program_of(0).inputs[0].donated);
  EXPECT_EQ(writes(), 2u);
  const auto third = upload(1);
  EXPECT_EQ(writes(), 2u);
  EXPECT_EQ(third.value().storage(), again.value().storage());
}

TEST_F(ReusedUploads, WhatACapturedStepGaveAwayIsSentAgain) {
  auto step = capture(device, [](Tensor<1> x) { return x + 1; });  // NOLINT: what is taken by value is given away
  for (int i = 0; i < 4; ++i) (void)step(upload(1));
  EXPECT_EQ(step.replayed(), 2u);
  EXPECT_EQ(writes(), 4u);
  auto kept = upload(1);
  (void)step(kept);
  EXPECT_EQ(upload(1).value().storage(), kept.value().storage());
}

TEST_F(ReusedUploads, ATensorThatIsReusedElsewhereIsNotGivenAway) {
  auto x = upload(1);
  const auto y = upload(1);
  x = x + 1;
  device.flush();
  EXPECT_FALSE(calls->program_of(0).inputs[0].donated);
}

TEST_F(ReusedUploads, SmallTensorsAreNotWorthIt) {
  const auto a = Tensor<1>::from_data({1, 2, 3}, device), b = Tensor<1>::from_data({1, 2, 3}, device);
  EXPECT_EQ(writes(), 2u);
}

TEST_F(ReusedUploads, ThreadsThatUploadAndDropTheSameBytesAtOnceAgree) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        auto x = upload(static_cast<float>(i % 3));
        if (i % 2 == 0) x = x + 1;
      }
      device.flush();
    });
  }
  for (auto& thread : threads) thread.join();
  device.sync();
  const auto stats = device.state()->stats();
  EXPECT_EQ(stats.uploads + stats.uploads_reused, 2000u);
  EXPECT_EQ(stats.uploads, writes());
}

}  // namespace
}  // namespace burn
