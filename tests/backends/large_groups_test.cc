// Groups over more elements than a GPU has threads for, and rows of which one element is picked.
#include <cmath>

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

}  // namespace
}  // namespace burn::testing
