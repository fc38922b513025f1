// Groups over more elements than a GPU has threads for, and rows of which one element is picked.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/backends/column_sums.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::PointwiseFn;

class LargeGroups : public ::testing::TestWithParam<backends::BackendKind> {
 protected:
  static reference::Tensor numbers(DType dtype, const ir::Shape& shape) {
    reference::Tensor x(ir::TensorType{dtype, shape});
    for (std::size_t i = 0; i < x.size(); ++i)
      x.set(i, static_cast<double>(static_cast<std::int64_t>(i * 7919 % 2003) - 1001) / 250);
    return x;
  }
  std::vector<reference::Tensor> run(const ir::Program& program, std::span<const reference::Tensor> inputs) {
    TestDevice device{GetParam().name};
    auto results = run_program(device, program, inputs);
    EXPECT_TRUE(results.ok()) << results.status().to_string();
    return results.ok() ? *std::move(results) : std::vector<reference::Tensor>{};
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, LargeGroups, ::testing::ValuesIn(computing_kinds()),
                         [](const auto& info) { return info.param.name; });

// The last vectors are not whole, and the last thread's neither.
TEST_P(LargeGroups, ComputeEveryElement) {
  for (const std::int64_t more : {0, 5, 1024, 1031, 2047}) {
    const ir::Shape shape{(std::int64_t{1} << 24) + more};
    ColumnSumsWriter w;
    const auto x = w.input(DType::f32, shape), root = w.input(DType::f32, {1});
    const auto y = w.add(PointwiseFn::erf, {w.add(PointwiseFn::div, {x, w.expand(root, shape)})});
    reference::Tensor one(ir::TensorType{DType::f32, {1}});
    one.set(0, 1.25);
    const reference::Tensor inputs[] = {numbers(DType::f32, shape), one};
    const auto got = run(w.finish({w.add(PointwiseFn::mul, {x, y})}), inputs);
    ASSERT_EQ(got.size(), 1u);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i) {
      const double at = inputs[0].get<double>(i), expected = at * std::erf(at / 1.25);
      if (!(std::abs(got[0].get<double>(i) - expected) <= 1e-6 * (1 + std::abs(expected))) && wrong++ == 0)
        ADD_FAILURE() << shape[0] << " elements, element " << i << ": " << got[0].get<double>(i) << " for " << expected;
    }
    EXPECT_EQ(wrong, 0u);
  }
}

// A value of each row that the group itself computes, of rows in a warp, in a block, in shared memory and beyond.
TEST_P(LargeGroups, PickOneOfEachRow) {
  for (const auto dtype : {DType::f32, DType::bf16, DType::f64}) {
    for (const ir::Shape& shape : {ir::Shape{70, 10}, ir::Shape{33, 1024}, ir::Shape{20, 8192}, ir::Shape{5, 8190},
                                   ir::Shape{4, 20000}, ir::Shape{3, 50304}, ir::Shape{6, 9001}}) {
      const auto rows = shape[0], columns = shape[1];
      ColumnSumsWriter w;
      const auto x = w.input(dtype, shape), target = w.input(DType::i64, {rows, 1});
      const auto largest = w.expand(w.add(ir::Reduce{ir::ReduceFn::max, ir::Dims{1}}, {x}), shape);
      const auto apart = w.add(PointwiseFn::sub, {x, largest});
      const auto sum = w.add(PointwiseFn::log, {w.sum(w.add(PointwiseFn::exp, {apart}), {1})});
      const auto log_p = w.add(PointwiseFn::sub, {apart, w.expand(sum, shape)});
      const auto loss = w.add(PointwiseFn::neg, {w.add(ir::Gather{1}, {log_p, target})});
      reference::Tensor inputs[] = {numbers(dtype, shape), reference::Tensor(ir::TensorType{DType::i64, {rows, 1}})};
      for (std::int64_t r = 0; r < rows; ++r)
        inputs[1].set(static_cast<std::size_t>(r), (r * 7919 + columns - 1) % columns);
      const auto program = w.finish({loss});
      const auto expected = reference::evaluate(program, inputs);
      const auto got = run(program, inputs);
      ASSERT_EQ(got.size(), 1u);
      EXPECT_EQ(first_difference(got[0], expected[0], 400), "") << ir::name(dtype) << " " << columns << " columns";
    }
  }
}

// Every row by a number of its own, also by such as have no reciprocal. Units in the last place may be missing where
// the numerator is tiny or the quotient is subnormal.
TEST_P(LargeGroups, DivideRowsByTheirNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> divisors{3.0f,      49.0f,         -0.1f, 8.0f,   -0.25f, 1.9999999f, 0.0f,   -0.0f,    kInfinity,
                              1e-30f,    1e30f,         kNan,  -1e38f, 3e38f,  1.2e-38f,   1e-40f, -1e-44f,  -kInfinity,
                              0x1p64f,   0x1p-101f,     1.0f,  768.0f, 1e-5f,  0x1p100f,   5e-31f, 0x1p127f, -7.7e-33f,
                              0x1.8p61f, 0x1.96b86p-14f};
  std::vector<float> numbers{0.0f,   -0.0f,  kInfinity, -kInfinity, kNan,      1.0f,       -1.0f,
                             3e38f,  -2e38f, 1e-45f,    -1e-40f,    1e-38f,    0x1p-100f,  0x1p-99f,
                             5e-31f, 1e37f,  1e30f,     -1e20f,     0x1p-126f, 0x1.2p-87f, 0x1.905b94p-127f};
  for (int i = 0; numbers.size() < 800; ++i)
    numbers.push_back(std::ldexp(1.0f + static_cast<float>(i * 7919 % 8191) / 8192, i * 37 % 250 - 125) *
                      (i % 2 == 0 ? 1.0f : -1.0f));
  const auto rows = static_cast<std::int64_t>(divisors.size()), columns = static_cast<std::int64_t>(numbers.size());
  ColumnSumsWriter w;
  const auto x = w.input(DType::f32, {rows, columns}), d = w.input(DType::f32, {rows, 1});
  const auto quotient = w.add(PointwiseFn::div, {x, w.expand(d, {rows, columns})});
  reference::Tensor inputs[] = {reference::Tensor(ir::TensorType{DType::f32, {rows, columns}}),
                                reference::Tensor(ir::TensorType{DType::f32, {rows, 1}})};
  for (std::size_t r = 0; r < divisors.size(); ++r) {
    inputs[1].set(r, static_cast<double>(divisors[r]));
    for (std::size_t c = 0; c < numbers.size(); ++c)
      inputs[0].set(r * numbers.size() + c, static_cast<double>(numbers[c]));
  }
  const auto got = run(w.finish({quotient, w.add(ir::Reduce{ir::ReduceFn::max, ir::Dims{1}}, {quotient})}), inputs);
  ASSERT_EQ(got.size(), 2u);
  for (std::size_t r = 0; r < divisors.size(); ++r) {
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      const float expected = numbers[c] / divisors[r],
                  q = static_cast<float>(got[0].get<double>(r * numbers.size() + c));
      if (std::isnan(expected) && std::isnan(q)) continue;
      const auto bits = std::bit_cast<std::int32_t>(q), wanted = std::bit_cast<std::int32_t>(expected);
      const bool is_tiny = std::abs(numbers[c]) < 0x1p-100f || std::abs(expected) < 0x1p-126f;
      const int most = numbers[c] == 0 ? 0 : std::abs(numbers[c]) < 0x1p-126f ? 2 : is_tiny ? 1 : 0;
      EXPECT_TRUE(std::signbit(q) == std::signbit(expected) && std::abs(bits - wanted) <= most)
          << numbers[c] << " / " << divisors[r] << ": " << q << " for " << expected;
    }
  }
}

}  // namespace
}  // namespace burn::testing
