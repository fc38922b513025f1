// Batch normalisation: its results in training and in inference, and the updates of its statistics.
#include "nn/norm/batch_norm.h"

#include <cmath>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;
using ::testing::ElementsAre;

// Values of PyTorch 1.13, except for the running variance, which is updated with the batch's biased variance.
nn::BatchNorm layer(const Device& device) {
  return {.gamma = Tensor<1>::from_data({1.077f, 0.705f, 0.932f}, device),
          .beta = Tensor<1>::from_data({0.497f, -1.004f, 0.873f}, device),
          .running_mean = Tensor<1>::from_data({-1.658f, 1.942f, -0.869f}, device),
          .running_var = Tensor<1>::from_data({0.691f, 0.521f, 1.873f}, device),
          .momentum = 0.125};
}
Tensor<2> batch(const Device& device) {
  return Tensor<2>::from_data(
      {{0.302f, 0.46f, -1.272f}, {-0.425f, 1.294f, -1.988f}, {1.248f, 1.963f, -0.788f}, {1.459f, -1.691f, -0.477f}},
      device);
}

TEST(BatchNorm, NormalisesByTheBatchInTraining) {
  expect_near(layer(ad())(batch(ad())), {0.0072198515, -1.0278256, 0.6428734, -1.0278678, -0.60050076, -0.52778876,
                                         1.3541152, -0.2577186, 1.4342148, 1.6545327, -2.1299548, 1.9427006});
}

TEST(BatchNorm, MovesItsStatisticsInTraining) {
  const auto module = layer(ad());
  (void)module(batch(ad()));
  expect_near(module.running_mean.val(), {-1.37, 1.7625625, -0.90178126});
  expect_near(module.running_var.val(), {0.6761484, 0.6925224, 1.6794904});
  EXPECT_FALSE(module.running_mean.slot().value.is_autodiff());
}

TEST(BatchNorm, NormalisesByItsStatisticsOtherwise) {
  const auto module = layer(cpu());
  const auto y = module(Tensor<2>::from_data({{-1.658f, 2.463f, 1}}, cpu()));
  expect_near(y, {0.497, -1.004 + 0.705 * 0.521 / std::sqrt(0.52101), 0.873 + 0.932 * 1.869 / std::sqrt(1.87301)});
  expect_near(module.running_mean.val(), {-1.658, 1.942, -0.869});
}

TEST(BatchNorm, TrainsByTheDeviceOfTheModuleNotOfTheInput) {
  const auto training = layer(ad());
  EXPECT_EQ(test::values(training(batch(cpu()))), test::values(layer(ad())(batch(ad()))));
  const auto inference = layer(ad()).valid();
  EXPECT_EQ(test::values(inference(batch(ad()))), test::values(layer(cpu())(batch(cpu()))));
  expect_near(inference.running_mean.val(), {-1.658, 1.942, -0.869});
}

TEST(BatchNorm, CopiesHaveStatisticsOfTheirOwn) {
  const auto module = layer(ad());
  const auto copy = module;
  (void)module(batch(ad()));
  expect_near(copy.running_mean.val(), {-1.658, 1.942, -0.869});
  expect_near(module.valid().running_mean.val(), {-1.37, 1.7625625, -0.90178126});
}

TEST(BatchNorm, KeepsItsStatisticsInRecords) {
  const auto module = layer(ad());
  (void)module(batch(ad()));
  const Record record = module.into_record();
  EXPECT_THAT(record.names(), ElementsAre("beta", "gamma", "running_mean", "running_var"));
  const auto copy = nn::BatchNormConfig{.num_features = 3}.init(ad()).load_record(record);
  expect_near(copy.running_mean.val(), {-1.37, 1.7625625, -0.90178126});
  EXPECT_EQ(copy.num_params(), 6);
}

TEST(BatchNorm, StatisticsOfImagesAreThoseOfAllPositions) {
  const auto module = nn::BatchNormConfig{.num_features = 2, .momentum = 1}.init(ad());
  const auto x = test::spread_tensor<4>({2, 2, 2, 3}, ad());
  const auto y = test::values(module(x));
  const auto numbers = test::values(x);
  for (std::size_t c = 0; c < 2; ++c) {
    double sum = 0, squares = 0, normal = 0;
    for (std::size_t n = 0; n < 2; ++n) {
      for (std::size_t i = 0; i < 6; ++i) {
        const auto at = (n * 2 + c) * 6 + i;
        sum += numbers[at];
        squares += numbers[at] * numbers[at];
        normal += y[at] * y[at];
      }
    }
    EXPECT_NEAR(test::values(module.running_mean.val())[c], sum / 12, 1e-6);
    EXPECT_NEAR(test::values(module.running_var.val())[c], squares / 12 - sum * sum / 144, 1e-6);
    EXPECT_NEAR(normal / 12, 1, 1e-3);
  }
}

TEST(BatchNorm, HasTheRightGradients) {
  const auto forward = [](const auto& m, const auto& x) { return m(x); };
  test::expect_gradients(layer(cpu()), test::spread_tensor<2>({4, 3}, cpu()), forward, 1e-5);
  test::expect_gradients(layer(cpu()), test::spread_tensor<4>({2, 3, 2, 2}, cpu()), forward, 1e-5);
}

TEST(BatchNorm, StatisticsKeepNoTapeAlive) {
  const auto module = layer(ad());
  for (int step = 0; step < 3; ++step) {
    const auto gradients = module(batch(ad())).sum().backward();
    EXPECT_EQ(gradients.size(), 2u);  // of gamma and beta only
  }
}

TEST(BatchNorm, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] {
              (void)layer(cpu())(Tensor<3>::ones({2, 4, 5}, cpu()));
            }),
            "batch_norm: the layer has 3 channels, the input is f32[2, 4, 5]");
  EXPECT_EQ(error_of([] {
              (void)layer(ad())(Tensor<2>::ones({0, 3}, ad()));
            }),
            "batch_norm: no statistics of an empty batch, f32[0, 3]");
  EXPECT_EQ(error_of([] { (void)nn::BatchNormConfig{}.init(cpu()); }),
            "BatchNormConfig: num_features is 0, must be at least 1");
  EXPECT_EQ(error_of([] { (void)nn::BatchNormConfig{.num_features = 1, .momentum = 2}.init(cpu()); }),
            "BatchNormConfig: momentum is 2, must be between 0 and 1");
}

}  // namespace
}  // namespace burn
