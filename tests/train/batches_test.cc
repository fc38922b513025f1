// Uploads by a loader's batcher are marked as a batch, on the loader's threads and on the consumer's; no others are.
#include <gmock/gmock.h>

#include "client/tensor/untyped.h"
#include "data/transforms.h"
#include "examples/guide/batcher.h"
#include "tests/train/fake_session.h"

namespace burn {
namespace {

using testing::Each;
using testing::SizeIs;

using Axes = std::vector<std::optional<std::int32_t>>;

class Batches : public ::testing::TestWithParam<std::size_t> {
 protected:
  Axes take_axes() {
    const std::lock_guard lock(server->mutex);
    return std::exchange(server->batch_axes, {});
  }

  const std::shared_ptr<test::FakeServer> server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server);
};

INSTANTIATE_TEST_SUITE_P(Workers, Batches, ::testing::Values(0, 1, 3));

TEST_P(Batches, OfTheGuideAreMarkedAndItsOtherUploadsAreNot) {
  const auto loader = data::DataLoaderBuilder(guide::MnistBatcher{device})
                          .batch_size(4)
                          .num_workers(GetParam())
                          .build(data::DigitsDataset{10, 1});
  const auto before = Tensor<2>::from_data({{1, 2}}, device);
  EXPECT_THAT(take_axes(), testing::ElementsAre(std::nullopt));
  std::size_t batches = 0;
  for (auto it = loader.start(0); it != loader.end(); ++it) {
    ++batches;
    if (GetParam() > 0) continue;
    EXPECT_THAT(take_axes(), testing::ElementsAre(0, 0));  // pixels and labels
    const auto between = Tensor<2>::from_data({{1, 2}}, device);
    EXPECT_THAT(take_axes(), testing::ElementsAre(std::nullopt));
  }
  EXPECT_EQ(batches, 3u);
  if (GetParam() == 0) return;
  EXPECT_THAT(take_axes(), testing::AllOf(SizeIs(6), Each(std::optional<std::int32_t>{0})));
  const auto after = Tensor<2>::from_data({{1, 2}}, device);
  EXPECT_THAT(take_axes(), testing::ElementsAre(std::nullopt));
}

TEST_P(Batches, MayHoldATableThatAllItemsShare) {
  const auto batcher = [this](std::vector<int> items) {
    const std::vector<float> numbers(items.begin(), items.end());
    const auto x = Tensor<1>::from_data(TensorData(numbers, {static_cast<std::int64_t>(items.size())}), device);
    const BatchScope shared{std::nullopt};
    return x * Tensor<1>::from_data({2}, device);
  };
  const auto loader =
      data::DataLoaderBuilder(batcher).batch_size(2).num_workers(GetParam()).build(data::InMemDataset<int>({1, 2}));
  for (auto it = loader.start(0); it != loader.end(); ++it) EXPECT_EQ((*it).dims()[0], 2);
  EXPECT_THAT(take_axes(), testing::ElementsAre(0, std::nullopt));
}

TEST_P(Batches, OfALoaderWhoseBatcherThrowsLeaveNoMarkBehind) {
  const auto batcher = [this](const std::vector<int>& items) {
    if (items[0] == 2) throw std::runtime_error("two");
    return Tensor<1>::from_data({1}, device);
  };
  const auto loader =
      data::DataLoaderBuilder(batcher).batch_size(1).num_workers(GetParam()).build(data::InMemDataset<int>({1, 2}));
  auto it = loader.start(0);
  EXPECT_THROW(++it, std::runtime_error);
  (void)take_axes();
  const auto after = Tensor<1>::from_data({1}, device);
  EXPECT_THAT(take_axes(), testing::ElementsAre(std::nullopt));
}

}  // namespace
}  // namespace burn
