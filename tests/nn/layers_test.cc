// Linear, embedding, layer normalisation and dropout.
#include <algorithm>
#include <numeric>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;
using ::testing::ElementsAre;

nn::Linear linear(const Device& device) {
  return {.weight = Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device),
          .bias = Tensor<1>::from_data({10, 20, 30}, device)};
}

TEST(Linear, MultipliesByTheWeightAsItStands) {
  expect_near(linear(cpu())(Tensor<2>::from_data({{1, 0}, {0, 1}, {1, -1}}, cpu())),
              {11, 22, 33, 14, 25, 36, 7, 17, 27});
}

TEST(Linear, TakesAnyRank) {
  const auto layer = linear(cpu());
  const auto one = layer(Tensor<1>::from_data({1, -1}, cpu()));
  EXPECT_THAT(one.dims(), ElementsAre(3));
  expect_near(one, {7, 17, 27});
  const auto four = layer(Tensor<4>::ones({2, 1, 3, 2}, cpu()));
  EXPECT_THAT(four.dims(), ElementsAre(2, 1, 3, 3));
  EXPECT_EQ(test::values(four)[17], 39);
}

TEST(Linear, WithoutBias) {
  auto layer = linear(cpu());
  layer.bias.reset();
  expect_near(layer(Tensor<2>::from_data({{1, 1}}, cpu())), {5, 7, 9});
  EXPECT_FALSE((nn::LinearConfig{.d_input = 1, .d_output = 1, .bias = false}.init(cpu()).bias.has_value()));
}

TEST(Linear, StartsWithinTheBoundOfItsFanIn) {
  const auto layer = nn::LinearConfig{.d_input = 16, .d_output = 32}.init(cpu());
  EXPECT_THAT(layer.weight.val().dims(), ElementsAre(16, 32));
  EXPECT_THAT(layer.bias->val().dims(), ElementsAre(32));
  for (const double w : test::values(layer.weight.val())) EXPECT_LE(std::abs(w), 0.25001);
  for (const double b : test::values(layer.bias->val())) EXPECT_LE(std::abs(b), 0.25001);
}

TEST(Linear, HasTheRightGradients) {
  test::expect_gradients(linear(cpu()), test::spread_tensor<3>({2, 2, 2}, cpu()),
                         [](const auto& m, const auto& x) { return m(x); });
}

TEST(Linear, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] {
              (void)linear(cpu())(Tensor<2>::ones({4, 3}, cpu()));
            }),
            "linear: the input's last dim is 3 (f32[4, 3]), the weight takes 2 (f32[2, 3])");
  EXPECT_EQ(error_of([] { (void)nn::LinearConfig{.d_output = 3}.init(cpu()); }),
            "LinearConfig: d_input is 0, must be at least 1");
}

TEST(Linear, ErrorsNameTheLineOfTheCall) {
  const auto line = std::to_string(__LINE__ + 2);
  try {
    (void)linear(cpu())(Tensor<2>::ones({4, 3}, cpu()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("layers_test.cc:" + line), std::string::npos) << error.what();
  }
}

nn::Embedding embedding(const Device& device) {
  return {.weight = Tensor<2>::from_data({{1, 2}, {3, 4}, {5, 6}}, device)};
}

TEST(Embedding, LooksUpRows) {
  const auto y = embedding(cpu())(Tensor<2, Int>::from_data({{2, 0}, {1, 2}}, cpu()));
  EXPECT_THAT(y.dims(), ElementsAre(2, 2, 2));
  expect_near(y, {5, 6, 1, 2, 3, 4, 5, 6});
  expect_near(embedding(cpu())(Tensor<1, Int>::from_data({1}, cpu())), {3, 4});
}

TEST(Embedding, RepeatedRowsAddUpTheirGradients) {
  const auto layer = embedding(ad());
  const auto y = layer(Tensor<1, Int>::from_data({2, 0, 2}, ad()));
  const auto weights = Tensor<2>::from_data({{1, 2}, {3, 4}, {10, 20}}, ad());
  const auto gradients = (y * weights).sum().backward();
  expect_near(*layer.weight.val().grad(gradients), {3, 4, 0, 0, 11, 22});
}

TEST(Embedding, StartsNormal) {
  cpu().seed(4);
  const auto weight = test::values(nn::EmbeddingConfig{.n_embedding = 50, .d_model = 40}.init(cpu()).weight.val());
  const double squares = std::inner_product(weight.begin(), weight.end(), weight.begin(), 0.0);
  EXPECT_NEAR(squares / static_cast<double>(weight.size()), 1, 0.1);
}

TEST(Embedding, AnIndexOutsideTheTableIsAnErrorOfTheRun) {
  const Device own = Device::new_session("cpu");
  const auto y = embedding(own)(Tensor<1, Int>::from_data({3}, own));
  EXPECT_EQ(error_of([&] { (void)y.to_data(); }), "program 1: embedding: index 3 is outside 0..2");
}

// Values of PyTorch 1.13.
TEST(LayerNorm, NormalisesTheLastDim) {
  nn::LayerNorm layer{.gamma = Tensor<1>::from_data({1.177f, 1.239f, 0.839f, 0.587f, 0.85f}, cpu()),
                      .beta = Tensor<1>::from_data({1.463f, 1.45f, 1.808f, -0.421f, -0.097f}, cpu())};
  const auto x = Tensor<1>::from_data({1.712f, 0.533f, -1.517f, -1.283f, 0.435f}, cpu());
  expect_near(layer(x), {3.1483994, 2.0192502, 0.77476674, -1.0305936, 0.22481644});
  layer.beta.reset();
  expect_near(layer(x.reshape<3>({1, 1, 5})), {1.6853994, 0.5692502, -1.0332333, -0.6095936, 0.32181644});
}

TEST(LayerNorm, HasTheRightGradients) {
  auto layer = nn::LayerNormConfig{.d_model = 4}.init(cpu());
  EXPECT_EQ(layer.num_params(), 8);
  EXPECT_EQ((nn::LayerNormConfig{.d_model = 4, .bias = false}.init(cpu()).num_params()), 4);
  layer.gamma = Tensor<1>::from_data({1, 0.5f, -2, 1.5f}, cpu());
  test::expect_gradients(
      layer, test::spread_tensor<3>({2, 2, 4}, cpu()), [](const auto& m, const auto& x) { return m(x); }, 1e-5);
}

TEST(LayerNorm, RefusesAnotherSize) {
  EXPECT_EQ(error_of([] {
              (void)nn::LayerNormConfig{.d_model = 4}.init(cpu())(Tensor<2>::ones({2, 3}, cpu()));
            }),
            "layer_norm: the layer has size 4, the input is f32[2, 3]");
}

TEST(Dropout, KeepsTheMeanInTraining) {
  ad().seed(6);
  const auto y = test::values(nn::DropoutConfig{.prob = 0.25}.init()(Tensor<2>::ones({200, 200}, ad())));
  const auto zeros = std::count(y.begin(), y.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(zeros) / 40000, 0.25, 0.01);
  EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0) / 40000, 1, 0.02);
  for (const double v : y) EXPECT_TRUE(v == 0 || std::abs(v - 4.0 / 3) < 1e-6) << v;
}

TEST(Dropout, DropsAnewInEachCall) {
  const nn::Dropout dropout{.prob = 0.5};
  const auto x = Tensor<1>::ones({256}, ad());
  EXPECT_NE(test::values(dropout(x)), test::values(dropout(x)));
}

TEST(Dropout, IsOffWithoutAutodiffOrWithoutProbability) {
  const auto x = test::spread_tensor<2>({4, 4}, cpu());
  EXPECT_EQ(test::values(nn::Dropout{.prob = 0.9}(x)), test::values(x));
  EXPECT_EQ(test::values(nn::Dropout{.prob = 0}(Tensor<2>::from_inner(x))), test::values(x));
  EXPECT_THAT(test::values(nn::Dropout{.prob = 1}(Tensor<2>::from_inner(x))), ::testing::Each(0));
}

TEST(Dropout, PassesGradientsWhereItPassedValues) {
  const auto x = Tensor<1>::ones({64}, ad()).require_grad();
  const auto y = nn::Dropout{.prob = 0.5}(x);
  const auto gradients = y.sum().backward();
  EXPECT_EQ(test::values(*x.grad(gradients)), test::values(y));
}

TEST(Dropout, RefusesWhatIsNoProbability) {
  EXPECT_EQ(error_of([] { (void)nn::DropoutConfig{.prob = 1.5}.init(); }),
            "DropoutConfig: prob is 1.5, must be between 0 and 1");
  EXPECT_EQ(error_of([] { (void)nn::DropoutConfig{.prob = NAN}.init(); }),
            "DropoutConfig: prob is nan, must be between 0 and 1");
}

}  // namespace
}  // namespace burn
