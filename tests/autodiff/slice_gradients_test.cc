// Gradients of values that are cut into slices: concatenated where the slices do not overlap, otherwise added up.
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tensor/tensor.h"

namespace burn {
namespace {

const Device& ad() {
  static const Device device = Device{"cpu"}.autodiff();
  return device;
}

Tensor<2> numbers() { return (Tensor<1>::arange(0, 24, ad()).reshape<2>({4, 6}) * 0.1).require_grad(); }

using Loss = std::function<Tensor<1>(const Tensor<2>&)>;

std::vector<float> gradient(const Loss& loss) {
  const auto x = numbers();
  return x.grad(loss(x).backward())->to_data().to_vec<float>();
}

// A rectangle to cut out of x. The loss sum(weight * slice^2) over all cuts must have the same gradient as the loss
// that masks x instead of cutting it.
struct Cut {
  std::int64_t row, column, rows, columns;
};

Tensor<1> by_cutting(const Tensor<2>& x, const std::vector<Cut>& cuts) {
  Tensor<1> sum = Tensor<1>::zeros({1}, ad());
  double weight = 1;
  for (const auto& [row, column, rows, columns] : cuts) {
    const auto piece = x.slice({s(row, row + rows), s(column, column + columns)});
    sum = sum + (piece * piece).sum() * weight;
    weight += 1;
  }
  return sum;
}

Tensor<1> by_masking(const Tensor<2>& x, const std::vector<Cut>& cuts) {
  Tensor<1> sum = Tensor<1>::zeros({1}, ad());
  double weight = 1;
  for (const auto& [row, column, rows, columns] : cuts) {
    const auto mask =
        Tensor<2>::zeros({4, 6}, ad())
            .slice_assign({s(row, row + rows), s(column, column + columns)}, Tensor<2>::ones({rows, columns}, ad()));
    sum = sum + (x * x * mask).sum() * weight;
    weight += 1;
  }
  return sum;
}

auto near(const std::vector<float>& expected) { return ::testing::Pointwise(::testing::FloatNear(1e-4F), expected); }

TEST(Pieces, HaveTheGradientOfMasks) {
  const std::vector<std::vector<Cut>> all{
      {{0, 0, 4, 2}, {0, 2, 4, 2}, {0, 4, 4, 2}},                // side by side
      {{0, 4, 4, 2}, {0, 0, 4, 1}, {0, 1, 4, 3}},                // in another order, of other sizes
      {{0, 1, 4, 2}, {0, 4, 4, 1}},                              // with gaps
      {{0, 0, 4, 3}, {0, 2, 4, 3}},                              // overlapping
      {{0, 0, 2, 6}, {2, 0, 2, 6}},                              // along the other axis
      {{0, 0, 2, 6}, {0, 0, 4, 3}},                              // along both
      {{0, 0, 2, 3}, {2, 3, 2, 3}},                              // in corners
      {{0, 0, 4, 6}, {0, 0, 4, 2}},                              // the whole, and a part
      {{1, 1, 2, 2}},                                            // one
      {{0, 0, 4, 2}, {0, 2, 4, 4}, {0, 0, 4, 2}, {0, 2, 4, 4}},  // each twice
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto expected = gradient([&](const Tensor<2>& x) { return by_masking(x, all[i]); });
    EXPECT_THAT(gradient([&](const Tensor<2>& x) { return by_cutting(x, all[i]); }), near(expected)) << "case " << i;
    // The same for a value that is not a leaf and has another use.
    const auto beside = [&](const auto& cutting) {
      return gradient([&](const Tensor<2>& x) {
        const auto y = x * 2;
        return cutting(y, all[i]) + (y * 3).sum();
      });
    };
    EXPECT_THAT(beside(by_cutting), near(beside(by_masking))) << "case " << i;
  }
}

TEST(Pieces, WithStepsAreSpread) {
  const auto even = gradient([](const Tensor<2>& x) { return x.slice({s(0, 4), s(0, 6, 2)}).sum(); });
  for (std::size_t i = 0; i < even.size(); ++i) EXPECT_EQ(even[i], i % 2 == 0 ? 1 : 0);
}

TEST(Pieces, AreDifferentiatedAgain) {
  const auto x = numbers();
  const auto cubes = (x.narrow(1, 0, 3).powi(3).sum() + x.narrow(1, 3, 3).powi(3).sum() * 2);
  const auto first = *x.grad(cubes.backward({.create_graph = true}));
  const auto second = x.grad(first.sum().backward())->to_data().to_vec<float>();
  for (std::size_t i = 0; i < second.size(); ++i) {
    EXPECT_NEAR(second[i], (i % 6 < 3 ? 6 : 12) * 0.1 * static_cast<double>(i), 1e-4);
  }
}

}  // namespace
}  // namespace burn
