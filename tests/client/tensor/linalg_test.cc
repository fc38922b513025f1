// Norms and small linear algebra on the CPU backend.
#include "client/tensor/linalg.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

const Device& device() {
  static const Device cpu{"cpu"};
  return cpu;
}

template <int D>
auto values(const Tensor<D>& x) {
  return x.to_data().template to_vec_as<float>();
}

TEST(Linalg, NormsOfAVector) {
  const auto x = Tensor<2>::from_data({{3, -4, 0}}, device());
  EXPECT_THAT(values(linalg::l0_norm(x, 1)), ElementsAre(2));
  EXPECT_THAT(values(linalg::l1_norm(x, 1)), ElementsAre(7));
  EXPECT_THAT(values(linalg::l2_norm(x, 1)), ElementsAre(5));
  EXPECT_THAT(values(linalg::max_abs_norm(x, -1)), ElementsAre(4));
  EXPECT_THAT(values(linalg::min_abs_norm(x, -1)), ElementsAre(0));
  EXPECT_NEAR(values(linalg::lp_norm(x, 3, 1))[0], std::cbrt(27.0 + 64), 1e-5);
}

TEST(Linalg, NormalisingLeavesZeroZero) {
  const auto x = Tensor<2>::from_data({{3, 4}, {0, 0}}, device());
  EXPECT_THAT(values(linalg::vector_normalize(x, 2, 1)), ElementsAre(FloatEq(0.6f), FloatEq(0.8f), 0, 0));
}

TEST(Linalg, CosineOfTheAngle) {
  const auto a = Tensor<2>::from_data({{1, 0}, {1, 1}, {0, 0}}, device()),
             b = Tensor<2>::from_data({{2, 0}, {-1, -1}, {1, 1}}, device());
  EXPECT_THAT(values(linalg::cosine_similarity(a, b, 1)), ElementsAre(FloatEq(1), FloatEq(-1), 0));
}

TEST(Linalg, DiagonalsOfWideTallAndEmptyMatrices) {
  const auto wide = Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device());
  EXPECT_THAT(values(linalg::diag(wide)), ElementsAre(1, 5));
  EXPECT_THAT(values(linalg::diag(wide.transpose())), ElementsAre(1, 5));
  EXPECT_THAT(values(linalg::trace(wide)), ElementsAre(6));
  EXPECT_TRUE(values(linalg::diag(Tensor<2>::ones({0, 3}, device()))).empty());
}

TEST(Linalg, ProductsWithVectors) {
  const auto a = Tensor<1>::from_data({1, 2}, device()), b = Tensor<1>::from_data({3, 4, 5}, device());
  EXPECT_THAT(values(linalg::outer(a, b)), ElementsAre(3, 4, 5, 6, 8, 10));
  EXPECT_THAT(values(linalg::matvec(linalg::outer(a, b), b)), ElementsAre(50, 100));
}

}  // namespace
}  // namespace burn
