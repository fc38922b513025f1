// Gradients of ops that choose among elements (max, min, also along dims, running ones, sorting, pooling): the chosen
// element gets the gradient, NaN or not, and all others get exactly 0, whatever the incoming gradient is.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tensor/functions.h"

namespace burn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Numbers = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();

const Device& device() {
  static const Device cpu = Device{"cpu"}.autodiff();
  return cpu;
}

Tensor<1> leaf(const Numbers& numbers, DType dtype = DType::f32) {
  return Tensor<1>::from_data(TensorData(numbers, {static_cast<std::int64_t>(numbers.size())}), {device(), dtype})
      .require_grad();
}
Tensor<2> rows(const Numbers& numbers, std::int64_t columns) {
  const auto size = static_cast<std::int64_t>(numbers.size());
  return Tensor<2>::from_data(TensorData(numbers, {size / columns, columns}), device()).require_grad();
}

// The gradient of sum(f(x)).
template <int D, typename F>
Numbers gradient(const Tensor<D>& x, const F& f) {
  return x.grad(f(x).sum().backward())->template to_vec_as<float>();
}

TEST(ExtremeGradients, GoToTheNaNThatWasChosen) {
  for (const auto dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const auto x = leaf({3, NAN, 1}, dtype);
    EXPECT_THAT(gradient(x, [](const auto& v) { return v.max(); }), ElementsAre(0, 1, 0));
    EXPECT_THAT(gradient(x, [](const auto& v) { return v.min(); }), ElementsAre(0, 1, 0));
    EXPECT_THAT(gradient(x, [](const auto& v) { return v.max_dim(0); }), ElementsAre(0, 1, 0));
    EXPECT_THAT(gradient(x, [](const auto& v) { return v.min_dim(0); }), ElementsAre(0, 1, 0));
    EXPECT_THAT(gradient(x, [](const auto& v) { return v.max_dims({0}); }), ElementsAre(0, 1, 0));
    EXPECT_THAT(gradient(x, [](const auto& v) { return v.min_dims({0}); }), ElementsAre(0, 1, 0));
  }
}

TEST(ExtremeGradients, OfEverythingAreSharedByEquals) {
  const auto twos = leaf({2, 1, 2, 0}), nans = leaf({NAN, 1, NAN, 5}), lows = leaf({-kInf, 3, -kInf, kInf});
  EXPECT_THAT(gradient(twos, [](const auto& v) { return v.max(); }), ElementsAre(0.5, 0, 0.5, 0));
  EXPECT_THAT(gradient(nans, [](const auto& v) { return v.max(); }), ElementsAre(0.5, 0, 0.5, 0));
  EXPECT_THAT(gradient(nans, [](const auto& v) { return v.min(); }), ElementsAre(0.5, 0, 0.5, 0));
  EXPECT_THAT(gradient(lows, [](const auto& v) { return v.min(); }), ElementsAre(0.5, 0, 0.5, 0));
  EXPECT_THAT(gradient(lows, [](const auto& v) { return v.max(); }), ElementsAre(0, 0, 0, 1));
  const auto x = rows({1, 4, 4, 2}, 2);
  EXPECT_THAT(gradient(x, [](const auto& v) { return v.max_dims({0, 1}); }), ElementsAre(0, 0.5, 0.5, 0));
}

TEST(ExtremeGradients, AlongADimGoToTheFirstOfEquals) {
  const auto x = rows({2, 1, 2, 0, NAN, NAN, 5, 5, 1}, 3);
  EXPECT_THAT(gradient(x, [](const auto& v) { return v.max_dim(1); }), ElementsAre(1, 0, 0, 0, 1, 0, 1, 0, 0));
  EXPECT_THAT(gradient(x, [](const auto& v) { return v.min_dim(1); }), ElementsAre(0, 1, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(gradient(x, [](const auto& v) { return v.max_dim(0); }), ElementsAre(0, 0, 0, 0, 1, 1, 1, 0, 0));
  EXPECT_THAT(gradient(leaf({2, 1, 2}), [](const auto& v) { return v.max_dim(0); }), ElementsAre(1, 0, 0));
}

// A mask that multiplies an infinite gradient by 0 would give NaN.
TEST(ExtremeGradients, AreZeroBesideOneThatIsInfiniteOrNaN) {
  for (const float strange : {kInf, -kInf, NAN}) {
    const auto x = rows({1, 2, 3, 1}, 2), weights = Tensor<2>::from_data({{strange}, {1}}, device());
    for (const auto& g : {gradient(x, [&](const auto& v) { return v.max_dim(1) * weights; }),
                          gradient(x, [&](const auto& v) { return v.max_dims({1}) * weights; }),
                          gradient(x, [&](const auto& v) { return v.topk(1, 1) * weights; })}) {
      EXPECT_EQ(g[0], 0);
      EXPECT_TRUE(g[1] == strange || (std::isnan(g[1]) && std::isnan(strange))) << g[1];
      EXPECT_EQ(g[2], 1);
      EXPECT_EQ(g[3], 0);
    }
  }
}

TEST(ExtremeGradients, OfRunningOnesStayWithTheNaN) {
  const auto x = leaf({1, NAN, 3, NAN});
  EXPECT_THAT(gradient(x, [](const auto& v) { return v.cummax(0); }), ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(gradient(x, [](const auto& v) { return v.cummin(0); }), ElementsAre(1, 2, 0, 1));
}

TEST(ExtremeGradients, OfOrdersFollowTheElements) {
  const auto x = leaf({3, NAN, 1}), weights = Tensor<1>::from_data({1, 2, 4}, device());
  EXPECT_THAT(gradient(x, [&](const auto& v) { return v.sort(0) * weights; }), ElementsAre(2, 4, 1));
  EXPECT_THAT(gradient(x, [&](const auto& v) { return v.topk(1, 0); }), ElementsAre(0, 1, 0));
  EXPECT_THAT(gradient(x, [&](const auto& v) { return v.median(0); }), ElementsAre(0, 1, 0));
}

TEST(ExtremeGradients, OfTheLargestMagnitudeHaveItsSign) {
  EXPECT_THAT(gradient(leaf({3, -5, 1}), [](const auto& v) { return v.max_abs(); }), ElementsAre(0, -1, 0));
  EXPECT_THAT(gradient(leaf({0, 0}), [](const auto& v) { return v.max_abs(); }), Each(0));
}

}  // namespace
}  // namespace burn
