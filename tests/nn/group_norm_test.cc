// Normalisation by groups, by channel, and by the root of the mean square.
#include <cmath>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using test::spread_tensor;
using test::values;

TEST(GroupNorm, OneGroupOfAllIsLayerNormOfASample) {
  const auto x = spread_tensor<3>({2, 4, 3}, cpu());
  const auto y = nn::GroupNormConfig{.num_groups = 1, .num_channels = 4, .affine = false}.init(cpu())(x);
  const auto flat = nn::LayerNormConfig{.d_model = 12, .bias = false}.init(cpu())(x.reshape<2>({2, 12}));
  expect_near(y, values(flat), 1e-5);
}

TEST(GroupNorm, HasTheRightGradients) {
  auto layer = nn::GroupNormConfig{.num_groups = 2, .num_channels = 4}.init(cpu());
  layer.gamma = spread_tensor<1>({4}, cpu(), 1);
  test::expect_gradients(
      layer, spread_tensor<3>({2, 4, 3}, cpu()), [](const auto& m, const auto& x) { return m(x); }, 1e-5);
}

TEST(GroupNorm, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { (void)nn::GroupNormConfig{.num_groups = 3, .num_channels = 4}.init(cpu()); }),
            "GroupNormConfig: 3 groups do not divide 4 channels");
  const auto layer = nn::GroupNormConfig{.num_groups = 2, .num_channels = 4}.init(cpu());
  EXPECT_EQ(error_of([&] {
              (void)layer(Tensor<3>::ones({1, 6, 2}, cpu()));
            }),
            "group_norm: the layer has 4 channels, the input is f32[1, 6, 2]");
}

TEST(InstanceNorm, IsAGroupForEachChannel) {
  const auto x = spread_tensor<4>({2, 3, 2, 5}, cpu());
  const auto grouped = nn::GroupNormConfig{.num_groups = 3, .num_channels = 3}.init(cpu());
  expect_near(nn::InstanceNormConfig{.num_channels = 3}.init(cpu())(x), values(grouped(x)), 1e-6);
}

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  const auto layer = nn::RmsNormConfig{.d_model = 2, .epsilon = 1e-9}.init(cpu());
  expect_near(layer(Tensor<2>::from_data({{3, 4}}, cpu())), {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)});
  test::expect_gradients(
      nn::RmsNormConfig{.d_model = 4}.init(cpu()), spread_tensor<3>({2, 2, 4}, cpu()),
      [](const auto& m, const auto& x) { return m(x); }, 1e-5);
  EXPECT_EQ(error_of([&] {
              (void)layer(Tensor<2>::ones({2, 3}, cpu()));
            }),
            "rms_norm: the layer has size 2, the input is f32[2, 3]");
}

}  // namespace
}  // namespace burn
