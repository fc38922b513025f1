// Marks of uploads: whether a tensor belongs to a batch, and along which axis.
#include "client/batch_scope.h"

#include <thread>

#include <gmock/gmock.h>

#include "client/tensor/tensor.h"
#include "client/tensor/untyped.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

using testing::ElementsAre;

class BatchScopes : public ::testing::Test {
 protected:
  void upload(const ir::Shape& shape) {
    const auto data = TensorData::zeros(shape, ir::DType::f32);
    kept_.push_back(client::from_data(data, {device}, ir::DType::f32));
  }

  const std::shared_ptr<test::RecordedCalls> calls = std::make_shared<test::RecordedCalls>();
  const Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls));

 private:
  std::vector<client::Value> kept_;
};

TEST_F(BatchScopes, MarkWhatIsUploadedInsideOfThem) {
  upload({2, 3});
  {
    const BatchScope scope;
    upload({2, 3});
  }
  upload({2, 3});
  EXPECT_THAT(calls->batch_axes, ElementsAre(std::nullopt, 0, std::nullopt));
}

TEST_F(BatchScopes, LeaveShapesAloneThatDoNotHaveTheirAxis) {
  {
    const BatchScope scope;
    upload({});
    upload({3});
  }
  const BatchScope of_time{1};
  upload({3});
  upload({5, 3});
  EXPECT_THAT(calls->batch_axes, ElementsAre(std::nullopt, 0, std::nullopt, 1));
}

TEST_F(BatchScopes, CountNegativeAxesFromTheEnd) {
  const BatchScope scope{-2};
  upload({});
  upload({3});
  upload({5, 3});
  upload({1, 5, 3});
  EXPECT_THAT(calls->batch_axes, ElementsAre(std::nullopt, std::nullopt, 0, 1));
}

TEST_F(BatchScopes, NestAndTheInnermostCounts) {
  const BatchScope outer{1};
  {
    const BatchScope shared{std::nullopt};
    upload({2, 2});
    const BatchScope inner{0};
    upload({2, 2});
  }
  upload({2, 2});
  EXPECT_THAT(calls->batch_axes, ElementsAre(std::nullopt, 0, 1));
}

TEST_F(BatchScopes, AreOfTheirThreadAlone) {
  const BatchScope scope;
  std::thread{[&] { upload({2}); }}.join();
  upload({2});
  EXPECT_THAT(calls->batch_axes, ElementsAre(std::nullopt, 0));
}

}  // namespace
}  // namespace burn
