// The weights' gradient by matrix products against the plain loops.
#include <random>

#include <gtest/gtest.h>

#include "backends/cpu/kernels/conv.h"

namespace burn::backends::cpu {
namespace {

ConvProblem problem(const ir::Shape& input, const ir::Shape& weight, const ir::Dims& stride, const ir::Dims& begin,
                    const ir::Dims& end, const ir::Dims& dilation) {
  ConvProblem p{.direction = ConvDirection::weight_grad,
                .input = input,
                .weight = weight,
                .stride = stride,
                .pad_begin = begin,
                .pad_end = end,
                .dilation = dilation};
  p.output = {input[0], weight[0]};
  for (int i = 0; i < 2; ++i) {
    const auto extent = (weight[i + 2] - 1) * dilation[i] + 1;
    p.output.push_back((input[i + 2] + begin[i] + end[i] - extent) / stride[i] + 1);
  }
  return p;
}

std::vector<float> numbers(const ir::Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<std::size_t>(ir::num_elements(shape)));
  for (auto& v : x) v = static_cast<float>(random() % 2001) / 1000 - 1;
  return x;
}

TEST(WeightProducts, AreThePlainGradient) {
  const std::vector<ConvProblem> problems{
      problem({3, 5, 9, 8}, {4, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}),
      problem({2, 3, 12, 11}, {2, 3, 3, 2}, {2, 3}, {0, 1}, {2, 0}, {1, 1}),
      problem({1, 2, 13, 17}, {3, 2, 2, 4}, {1, 2}, {2, 3}, {0, 4}, {3, 2}),
      problem({2, 1, 3, 3}, {1, 1, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {1, 1}),
      problem({2, 64, 40, 40}, {8, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}),  // several strips of rows
  };
  const auto pool = std::make_shared<Pool>(Pool::Config{});
  for (const auto& p : problems) {
    const auto x = numbers(p.input, 1), g = numbers(p.output, 2);
    std::vector<float> actual(static_cast<std::size_t>(ir::num_elements(p.weight))), expected(actual.size());
    cpu::Run run{*pool, {}};
    ASSERT_TRUE(make_weight_products(p)->run(run, x.data(), g.data(), actual.data()).ok());
    convolve_plainly(p, x.data(), g.data(), expected.data());
    for (std::size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 2e-3) << to_string(p.weight) << " at " << i;
  }
}

TEST(WeightProducts, AreForOrdinaryImagesOnly) {
  auto p = problem({2, 4, 6, 6}, {4, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1});
  p.groups = 2;
  EXPECT_EQ(make_weight_products(p), nullptr);
  p.groups = 1;
  p.direction = ConvDirection::forward;
  EXPECT_EQ(make_weight_products(p), nullptr);
}

}  // namespace
}  // namespace burn::backends::cpu
