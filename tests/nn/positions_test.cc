// Position encodings, distances, noise, and activations chosen by an option.
#include <cmath>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;

TEST(RotaryEncoding, TurnsPairsByTheirPosition) {
  const auto layer = nn::RotaryEncodingConfig{.max_sequence_length = 8, .d_model = 4, .theta = 100}.init(cpu());
  const auto x = Tensor<2>::from_data({{1, 0, 0, 1}, {1, 0, 0, 1}}, cpu());
  expect_near(layer(x), {1, 0, 0, 1, std::cos(1.0), std::sin(1.0), -std::sin(0.1), std::cos(0.1)});
  expect_near(layer.apply(x.slice({s(0, 1)}), 3), {std::cos(3.0), std::sin(3.0), -std::sin(0.3), std::cos(0.3)});
}

TEST(RotaryEncoding, TakesAnyLeadingDims) {
  const auto layer = nn::RotaryEncodingConfig{.max_sequence_length = 8, .d_model = 4}.init(cpu());
  const auto x = test::spread_tensor<2>({3, 4}, cpu());
  const auto want = test::values(layer(x));
  expect_near(layer(x.reshape<5>({1, 1, 1, 3, 4})), want);
  expect_near(layer(x.reshape<8>({1, 1, 1, 1, 1, 1, 3, 4})), want);
  EXPECT_EQ(layer(Tensor<3>::zeros({0, 3, 4}, cpu())).dims(), (std::array<std::int64_t, 3>{0, 3, 4}));
  test::expect_gradients(layer, x, [](const nn::RotaryEncoding& l, const Tensor<2>& y) { return l.apply(y, 2); });
}

TEST(RotaryEncoding, IsShiftedBeyondItsTables) {
  auto layer = nn::RotaryEncodingConfig{.max_sequence_length = 4, .d_model = 2}.init(cpu());
  const auto x = Tensor<2>::from_data({{1, 0}}, cpu());
  EXPECT_EQ(error_of([&] { layer.apply(x, 4); }), "rotary_encoding: rows 4 to 5, but the layer has those from 0 to 4");
  layer.shift(4);
  expect_near(layer.apply(x, 5), {std::cos(5.0), std::sin(5.0)});
  EXPECT_EQ(error_of([&] { layer.apply(x, 0); }), "rotary_encoding: rows 0 to 1, but the layer has those from 4 to 8");
  layer.reset();
  expect_near(layer.apply(x, 0), {1, 0});
  const auto slow = nn::RotaryEncodingConfig{.max_sequence_length = 4, .d_model = 2}.init_with_frequency_scaling(
      [](double rate) { return rate / 2; }, cpu());
  expect_near(slow.apply(x, 2), {std::cos(1.0), std::sin(1.0)});
}

TEST(PositionalEncoding, AddsSinesAndCosines) {
  const auto layer =
      nn::PositionalEncodingConfig{.d_model = 4, .max_sequence_size = 3, .max_timescale = 100}.init(cpu());
  expect_near(layer(Tensor<3>::ones({1, 2, 4}, cpu())),
              {1, 2, 1, 2, 1 + std::sin(1.0), 1 + std::cos(1.0), 1 + std::sin(0.1), 1 + std::cos(0.1)});
  EXPECT_EQ(error_of([&] {
              layer(Tensor<3>::ones({1, 4, 4}, cpu()));
            }),
            "positional_encoding: the layer is for sequences of at most 3 by 4, the input is f32[1, 4, 4]");
  EXPECT_EQ(error_of([] { nn::PositionalEncodingConfig{.d_model = 3}.init(cpu()); }),
            "PositionalEncodingConfig: d_model is 3, must be even");
  EXPECT_EQ(layer.num_params(), 0);
}

TEST(PairwiseDistance, OfEqualPointsHasAGradientWithoutNan) {
  const auto x = Tensor<2>::from_data({{1, 2}, {3, 4}}, ad()).require_grad();
  for (const double eps : {0.0, 1e-6}) {
    const auto distance = nn::PairwiseDistance{.eps = eps}(x, x.detach());
    EXPECT_EQ(distance.dims()[0], 2);
    for (const double g : test::values(*x.grad(distance.sum().backward()))) EXPECT_TRUE(std::isfinite(g));
  }
  expect_near(nn::PairwiseDistance{.eps = 0}(Tensor<3>::ones({2, 1, 4}, cpu()), Tensor<3>::zeros({2, 1, 4}, cpu())),
              {2, 2});
}

TEST(CosineSimilarity, LosesItsDim) {
  const auto x = Tensor<3>::ones({2, 3, 4}, cpu());
  EXPECT_EQ(nn::CosineSimilarity{}(x, x).dims(), (std::array<std::int64_t, 2>{2, 4}));
  expect_near(nn::CosineSimilarity{.dim = -1}(x, x), std::vector<double>(6, 1));
}

TEST(GaussianNoise, IsForTrainingAlone) {
  const auto layer = nn::GaussianNoiseConfig{.std = 0.5}.init();
  const auto x = Tensor<1>::zeros({1000}, ad());
  double squares = 0;
  for (const double y : test::values(layer(x))) squares += y * y;
  EXPECT_NEAR(squares / 1000, 0.25, 0.05);
  expect_near(layer.valid()(x), std::vector<double>(1000, 0));
  expect_near(layer(x.inner()), std::vector<double>(1000, 0));
  expect_near(nn::Identity{}(x), std::vector<double>(1000, 0));
}

TEST(SwiGlu, GatesOneProductWithAnother) {
  const auto layer = nn::SwiGluConfig{.d_input = 3, .d_output = 2, .bias = true}.init(cpu());
  const auto x = test::spread_tensor<2>({2, 3}, cpu());
  expect_near(layer(x), test::values(activation::silu(layer.linear_inner(x)) * layer.linear_outer(x)));
  test::expect_gradients(layer, x, [](const nn::SwiGlu& l, const Tensor<2>& y) { return l(y); });
}

TEST(RRelu, DrawsItsSlopesInTraining) {
  const nn::RRelu layer{.lower = 0.2, .upper = 0.4};
  const auto x = Tensor<1>::from_data({-1, -1, -1, 2}, ad());
  const auto y = test::values(layer(x));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(y[i] <= -0.2 && y[i] >= -0.4) << y[i];
  EXPECT_EQ(y[3], 2);
  EXPECT_NE(y[0], y[1]);
  expect_near(layer.valid()(x), {-0.3, -0.3, -0.3, 2});
}

TEST(Activation, IsAnyOfThemByNameOrByValue) {
  const auto x = test::spread_tensor<2>({2, 4}, cpu());
  const auto by_name = [&](const nn::ActivationConfig& config) { return test::values(config.init(cpu())(x)); };
  EXPECT_EQ(by_name({.kind = "gelu"}), test::values(nn::Gelu{}(x)));
  EXPECT_EQ(by_name({.kind = "leaky_relu", .negative_slope = 0.3}),
            test::values(nn::LeakyRelu{.negative_slope = 0.3}(x)));
  EXPECT_EQ(by_name({.kind = "shrink", .lambda = 0.1, .bias = 0.2}),
            test::values(nn::Shrink{.lambda = 0.1, .bias = 0.2}(x)));
  EXPECT_EQ(by_name({.kind = "threshold", .threshold = 0.1, .value = 7}),
            test::values(activation::threshold(x, 0.1, 7)));
  EXPECT_EQ(by_name({.kind = "thresholded_relu"}), test::values(activation::thresholded_relu(x)));
  EXPECT_EQ(test::values(nn::ActivationConfig{.kind = "glu"}.init(cpu())(x)), test::values(activation::glu(x, -1)));
  const nn::Activation one = nn::Elu{.alpha = 2};
  EXPECT_EQ(test::values(one(x)), test::values(nn::Elu{.alpha = 2}(x)));
  const auto config = nn::ActivationConfig::from_json(R"({"kind": "elu", "alpha": 2})");
  EXPECT_EQ(by_name(config), test::values(one(x)));
  EXPECT_THAT(error_of([] { nn::ActivationConfig{.kind = "cube"}.init(cpu()); }),
              ::testing::StartsWith("ActivationConfig: there is no kind \"cube\"; there are: relu, "));
}

TEST(Activation, KeepsItsParametersInRecords) {
  const nn::Activation layer = nn::ActivationConfig{.kind = "prelu", .num_parameters = 3}.init(ad());
  EXPECT_EQ(layer.num_params(), 3);
  const auto record = layer.into_record();
  EXPECT_EQ(record.names(), std::vector<std::string>{"any.0.alpha"});
}

}  // namespace
}  // namespace burn
