// Numeric options of activations, losses, initializers and optimizers are applied to f64 tensors without rounding.
#include <cmath>

#include <gtest/gtest.h>

#include "nn/nn.h"

namespace burn {
namespace {

const TensorOptions kDouble{"cpu", DType::f64};

Tensor<1> one(double number) { return Tensor<1>::from_data({number}, kDouble); }

TEST(NumbersInF64, OfActivations) {
  EXPECT_EQ(activation::threshold(one(-1), 0, 0.1).item(), 0.1);
  EXPECT_EQ(activation::hardtanh(one(1), 0, 0.1).item(), 0.1);
  EXPECT_EQ(activation::leaky_relu(one(-1), 0.1).item(), -0.1);
  EXPECT_EQ(activation::hard_sigmoid(one(0), 0.2, 0.1).item(), 0.1);
  EXPECT_EQ(activation::elu(one(-800), 0.1).item(), -0.1);
  EXPECT_EQ(activation::celu(one(-800), 0.1).item(), -0.1);
  EXPECT_EQ(activation::shrink(one(1), 0.5, 0.9).item(), 1 - 0.9);
  const double above = std::nextafter(0.1, 1);
  EXPECT_EQ(activation::thresholded_relu(one(above), 0.1).item(), above);
  EXPECT_EQ(activation::thresholded_relu(one(0.1), 0.1).item(), 0);
}

TEST(NumbersInF64, OfLosses) {
  EXPECT_EQ(nn::HingeEmbeddingLoss{.margin = 0.1}(one(0), one(-1)).item(), 0.1);
  EXPECT_NEAR(nn::HuberLoss{.delta = 0.1}(one(1), one(0)).item(), 0.1 * (1 - 0.05), 1e-16);
  EXPECT_NEAR(nn::SmoothL1Loss{.beta = 0.2}(one(1), one(0)).item(), 0.9, 2e-16);
  EXPECT_NEAR(nn::LpLoss{.p = 1.1}(one(3), one(0)).item(), std::pow(3, 1.1), 1e-15);
}

TEST(NumbersInF64, OfInitializers) {
  EXPECT_EQ(nn::Initializer::constant(0.1).init<1>({1}, kDouble).item(), 0.1);
  EXPECT_EQ(nn::Initializer::normal(0.1, 0).init<1>({1}, kDouble).item(), 0.1);
}

}  // namespace
}  // namespace burn
