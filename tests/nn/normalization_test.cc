// The layer that holds any kind of normalisation, and an LSTM that is run step by step.
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using test::spread_tensor;
using test::values;
using ::testing::HasSubstr;

TEST(Normalization, IsTheOneThatIsGiven) {
  const auto x = spread_tensor<3>({2, 4, 4}, cpu());
  expect_near(nn::NormalizationConfig{}.init(cpu())(x), values(x));
  const nn::LayerNormConfig layer{.d_model = 4};
  const nn::GroupNormConfig group{.num_groups = 2, .num_channels = 4};
  expect_near(nn::NormalizationConfig{.layer = layer}.init(cpu())(x), values(layer.init(cpu())(x)));
  expect_near(nn::NormalizationConfig{.group = group}.init(cpu())(x), values(group.init(cpu())(x)));
  expect_near(nn::NormalizationConfig{.rms = nn::RmsNormConfig{.d_model = 1}}.with_num_features(4).init(cpu())(x),
              values(nn::RmsNormConfig{.d_model = 4}.init(cpu())(x)));
  EXPECT_EQ((nn::NormalizationConfig{.group = group}.init(cpu()).num_params()), 8);
  EXPECT_THAT(error_of([&] { (void)nn::NormalizationConfig{.group = group, .layer = layer}.init(cpu()); }),
              HasSubstr("2 normalisations, must be one or none"));
  const auto again = nn::NormalizationConfig::from_json(nn::NormalizationConfig{.layer = layer}.to_json());
  EXPECT_TRUE(again.layer && !again.group);
}

TEST(LstmSteps, AreTheSequence) {
  const auto x = spread_tensor<3>({2, 3, 4}, cpu());
  for (const bool batch_first : {true, false}) {
    const auto lstm =
        nn::LstmConfig{.d_input = 4, .d_hidden = 5, .batch_first = batch_first, .reverse = !batch_first}.init(cpu());
    const std::vector<Tensor<2>> steps{x.select_dim(1, 0), x.select_dim(1, 1), x.select_dim(1, 2)};
    const auto [all, last] = lstm.forward_iter(steps);
    const auto [expected, end] = lstm.forward(batch_first ? x : x.swap_dims(0, 1));
    expect_near(all, values(expected));
    expect_near(last.cell, values(end.cell));
    EXPECT_THAT(error_of([&] { (void)lstm.forward_iter(std::vector<Tensor<2>>{}); }), HasSubstr("no step"));
  }
}

}  // namespace
}  // namespace burn
