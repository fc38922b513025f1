// Gradients of matrices that many small products share: the same as the sum of each product's gradient.
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ops/ops.h"
#include "client/tensor/tensor.h"

namespace burn {
namespace {

const Device& ad() {
  static const Device device = Device{"cpu"}.autodiff();
  return device;
}

Tensor<2> numbers(std::int64_t rows, std::int64_t columns, double scale) {
  return (Tensor<1>::arange(0, rows * columns, ad()).reshape<2>({rows, columns}) * scale).sin();
}
std::vector<float> values(const Tensor<2>& x) { return x.to_data().to_vec<float>(); }
auto near(const std::vector<float>& expected) { return ::testing::Pointwise(::testing::FloatNear(1e-5F), expected); }

// A recurrent network of `steps` steps: each multiplies the previous result by `weight`, and adds x.
Tensor<2> walk(const Tensor<2>& x, const Tensor<2>& weight, int steps) {
  auto h = x;
  for (int i = 0; i < steps; ++i) h = (h.matmul(weight) + x * i).tanh();
  return h;
}

TEST(SharedFactors, HaveTheGradientOfFactorsThatAreNotShared) {
  for (const int steps : {3, 4, 9}) {  // below, at and above the number of uses that counts as shared
    const auto x = numbers(5, 3, 0.7).require_grad(), weight = numbers(3, 3, 1.3).require_grad();
    const auto gradients = walk(x, weight, steps).sum().backward();
    // The reference: each product has its own copy of the matrix, and their gradients are added up here.
    std::vector<Tensor<2>> copies;
    const auto other_x = x.detach().require_grad();
    auto h = other_x;
    for (int i = 0; i < steps; ++i) {
      copies.push_back(weight.detach().require_grad());
      h = (h.matmul(copies.back()) + other_x * i).tanh();
    }
    const auto apart = h.sum().backward();
    auto sum = Tensor<2>::zeros({3, 3}, Device{"cpu"});
    for (const auto& copy : copies) sum = sum + *copy.grad(apart);
    EXPECT_THAT(values(*weight.grad(gradients)), near(values(sum))) << steps;
    EXPECT_THAT(values(*x.grad(gradients)), near(values(*other_x.grad(apart)))) << steps;
  }
}

TEST(SharedFactors, TakeProductsOfDifferentNumbersOfRowsAndOtherUses) {
  const auto weight = numbers(3, 4, 1.3).require_grad();
  auto expected = weight.detach().inner() * 2;
  auto loss = (weight * weight).sum();
  for (std::int64_t rows = 1; rows < 6; ++rows) {
    const auto x = numbers(rows, 3, 0.3), alone = weight.detach().require_grad();
    loss = loss + x.matmul(weight).square().sum();
    expected = expected + *alone.grad(x.matmul(alone).square().sum().backward());
  }
  EXPECT_THAT(values(*weight.grad(loss.backward())), near(values(expected)));
}

TEST(SharedFactors, AreComputedThemselves) {
  const auto leaf = numbers(3, 3, 1.3).require_grad();
  const auto gradients = walk(numbers(5, 3, 0.7), leaf * 2, 6).sum().backward();
  const auto doubled = (leaf.detach() * 2).require_grad();
  const auto expected = *doubled.grad(walk(numbers(5, 3, 0.7), doubled, 6).sum().backward()) * 2;
  EXPECT_THAT(values(*leaf.grad(gradients)), near(values(expected)));
}

TEST(SharedFactors, KeepGradientsOfGradients) {
  const auto weight = numbers(3, 3, 1.3).require_grad();
  const auto loss = walk(numbers(5, 3, 0.7), weight, 6).sum();
  const auto first = loss.backward({.create_graph = true});
  const auto again = weight.grad(first);
  ASSERT_TRUE(again.has_value());
  EXPECT_THAT(values(*again), near(values(*weight.grad(walk(numbers(5, 3, 0.7), weight, 6).sum().backward()))));
}

}  // namespace
}  // namespace burn
