// backward(): which tensors get a gradient, which memory it frees, and the errors that it reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tensor/tensor.h"

namespace burn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Backward : public ::testing::Test {
 protected:
  Device cpu{"cpu"};
  Device ad = cpu.autodiff();

  Tensor<1> leaf(float a, float b) { return Tensor<1>::from_data({a, b}, ad).require_grad(); }
  static std::vector<float> values(const Tensor<1>& x) { return x.to_data().to_vec<float>(); }
};

TEST_F(Backward, GivesAGradientToEveryTrackedLeaf) {
  const auto x = leaf(2, 3), w = leaf(5, 7);
  const auto grads = (x * w).sum().backward();
  EXPECT_THAT(values(*x.grad(grads)), ElementsAre(5, 7));
  EXPECT_THAT(values(*w.grad(grads)), ElementsAre(2, 3));
}

TEST_F(Backward, AddsUpWhereATensorIsUsedTwice) {
  const auto x = leaf(2, 3);
  const auto grads = (x * x + x).sum().backward();
  EXPECT_THAT(values(*x.grad(grads)), ElementsAre(5, 7));
}

TEST_F(Backward, GradientsAreOnTheInnerDevice) {
  const auto x = leaf(2, 3);
  const auto grads = x.exp().sum().backward();
  EXPECT_FALSE(x.grad(grads)->device().is_autodiff());
}

TEST_F(Backward, ConstantsAndDetachedTensorsGetNone) {
  const auto x = leaf(2, 3);
  const auto constant = Tensor<1>::from_data({1, 1}, ad);
  const auto grads = (x.detach() * constant + x).sum().backward();
  EXPECT_FALSE(constant.grad(grads).has_value());
  EXPECT_THAT(values(*x.grad(grads)), ElementsAre(1, 1));
}

TEST_F(Backward, GradRemoveTakesItOut) {
  const auto x = leaf(2, 3);
  auto grads = x.sum().backward();
  EXPECT_TRUE(x.grad_remove(grads).has_value());
  EXPECT_FALSE(x.grad(grads).has_value());
}

TEST_F(Backward, FreesTheGraphUnlessToldToKeepIt) {
  const auto x = leaf(2, 3);
  const auto y = (x * x).sum();
  const auto first = y.backward({.retain_graph = true});
  const auto second = y.backward();
  EXPECT_EQ(values(*x.grad(first)), values(*x.grad(second)));
  try {
    (void)y.backward();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("freed by an earlier backward"));
    EXPECT_THAT(error.what(), HasSubstr("backward_test.cc:"));
  }
}

TEST_F(Backward, WithoutATrackedTensorSaysSo) {
  const auto x = Tensor<1>::from_data({1, 2}, cpu);
  try {
    (void)x.sum().backward();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("requires a gradient"));
  }
}

TEST_F(Backward, OfAGradientGivesTheSecondDerivative) {
  const auto x = leaf(2, 3);
  const auto first = (x * x * x).sum().backward({.create_graph = true});
  const auto dx = Tensor<1>{*first.get(x.value())};  // 3 x^2
  EXPECT_THAT(values(dx), ElementsAre(12, 27));
  const auto second = dx.sum().backward();
  EXPECT_THAT(values(*x.grad(second)), ElementsAre(12, 18));  // 6 x
}

TEST_F(Backward, WalksALongChainWithoutRecursion) {
  auto x = leaf(1, 1);
  auto y = x * 1.0;
  for (int i = 0; i < 20000; ++i) y = y + 0.0;
  const auto grads = y.sum().backward();
  EXPECT_THAT(values(*x.grad(grads)), ElementsAre(1, 1));
}

TEST_F(Backward, AChainThatIsNeverWalkedIsFreedWithoutRecursion) {
  auto y = leaf(1, 1);
  for (int i = 0; i < 100000; ++i) y = y + 0.0;
}

}  // namespace
}  // namespace burn
