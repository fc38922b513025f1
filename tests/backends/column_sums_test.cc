// Sums over all rows of what a group computes: part of the group where the limits say so, and right on every backend.
#include "tests/backends/column_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/plan/plan.h"
#include "compile/rewrite/simplify.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using compile::PlanStep;
using ir::DType;
using ir::PointwiseFn;
using Writer = ColumnSumsWriter;

std::vector<compile::PlanStep> steps_of(const ir::Program& program, std::int64_t min_summed_rows) {
  compile::PlanOptions options;
  options.limits.min_summed_rows = min_summed_rows;
  std::vector<compile::PlanStep> steps;
  const auto made = compile::simplify(program, true);
  const auto plan = compile::make_plan(made, options);
  for (const auto& step : plan.steps) {
    if (step.group != compile::PlanStep::kSingle ||
        std::holds_alternative<ir::Reduce>(made.maker_of(step.results[0]).op))
      steps.push_back(step);
  }
  return steps;
}

TEST(ColumnSums, AreMembersWhereThereAreManyRows) {
  const auto norm = norm_program({16, 64, 96}, DType::bf16);
  const auto steps = steps_of(norm, 1024);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].results.size(), 4u);
  EXPECT_EQ(steps_of(activation_program(2048, 96), 1024).size(), 1u);
}

TEST(ColumnSums, AreStepsOfTheirOwnElsewhere) {
  EXPECT_EQ(steps_of(norm_program({16, 64, 96}, DType::bf16), 0).size(), 4u);
  EXPECT_EQ(steps_of(norm_program({16, 64, 96}, DType::bf16), 1025).size(), 4u);
  EXPECT_EQ(steps_of(activation_program(2048, 96), 2049).size(), 2u);
}

TEST(ColumnSums, OfOtherDimsThanTheLastAreNone) {
  Writer w;
  const auto x = w.input(DType::f32, {64, 32, 16});
  const auto y = w.add(PointwiseFn::exp, {w.add(PointwiseFn::neg, {x})});
  EXPECT_EQ(steps_of(w.finish({w.sum(y, {0}), w.sum(y, {1, 2})}), 1).size(), 2u);
}

// What reads a sum of a group is computed after the group.
TEST(ColumnSums, AreThereBeforeTheyAreRead) {
  Writer w;
  const auto x = w.input(DType::f32, {2048, 32});
  const auto y = w.add(PointwiseFn::exp, {w.add(PointwiseFn::neg, {x})});
  const auto mean = w.expand(w.sum(y, {0}), {2048, 32});
  const auto steps = steps_of(w.finish({w.add(PointwiseFn::tanh, {w.add(PointwiseFn::sub, {y, mean})})}), 1);
  EXPECT_EQ(steps.size(), 2u);
}

TEST(ColumnSums, OfEverythingAreMembersWhereTheLimitsSaySo) {
  Writer w;
  const auto x = w.input(DType::f32, {64, 1024});
  const auto y = w.add(PointwiseFn::exp, {w.add(PointwiseFn::neg, {x})});
  const auto program = compile::simplify(w.finish({w.sum(y, {0, 1})}), true);
  compile::PlanOptions options;
  EXPECT_EQ(compile::make_plan(program, options).steps.size(), 2u);
  options.limits.sums_all = true;
  EXPECT_EQ(compile::make_plan(program, options).steps.size(), 1u);
}

class ColumnSumsOn : public ::testing::TestWithParam<backends::BackendKind> {
 protected:
  void check(const ir::Program& program, double slack) {
    std::vector<reference::Tensor> inputs;
    for (const auto& input : program.inputs) {
      reference::Tensor numbers(input.type);
      for (std::size_t i = 0; i < static_cast<std::size_t>(input.type.num_elements()); ++i)
        numbers.set(i, static_cast<double>(static_cast<std::int64_t>((i * 7 + inputs.size()) % 13) - 6) / 8);
      inputs.push_back(std::move(numbers));
    }
    TestDevice device{GetParam().name};
    const auto expected = reference::evaluate(program, inputs);
    const auto actual = run_program(device, program, inputs);
    ASSERT_TRUE(actual.ok()) << actual.status().to_string();
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(first_difference((*actual)[k], expected[k], slack), "") << "output " << k << "\n" << to_string(program);
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, ColumnSumsOn, ::testing::ValuesIn(computing_kinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ColumnSumsOn, AreRightOfNorms) {
  check(norm_program({16, 64, 96}, DType::f32), 200);
  check(norm_program({1024, 97}, DType::f32), 200);
  check(norm_program({2, 260, 768}, DType::f32), 400);
  check(norm_program({520, 1500}, DType::f32), 400);
  check(norm_program({2048, 96}, DType::bf16), 200);
}

TEST_P(ColumnSumsOn, AreRightOfActivations) {
  check(activation_program(2048, 96), 200);
  check(activation_program(1500, 33), 200);
  check(activation_program(512, 1024), 200);
  check(activation_program(1001, 384), 200);
  check(activation_program(75, 2048), 200);
  check(activation_program(513, 2100), 200);
}

// Rows that the first cache does not hold, and the longest that groups combine anywhere.
TEST_P(ColumnSumsOn, AreRightOfLongRows) {
  check(norm_program({12, 20011}, DType::f32), 2000);
  check(norm_program({9, 65536}, DType::f32), 4000);
}

// Of tiles that begin and end within rows, of several groups at once, and of everything beside.
TEST_P(ColumnSumsOn, AreRightBesideSumsOfEverything) {
  for (const auto dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (const ir::Shape& shape :
         {ir::Shape{64, 10}, ir::Shape{33, 1300}, ir::Shape{3, 40, 700}, ir::Shape{3000, 37}}) {
      Writer w;
      const auto x = w.input(dtype, shape), z = w.input(dtype, shape);
      const auto y = w.add(PointwiseFn::tanh, {w.add(PointwiseFn::mul, {x, z})});
      const auto u = w.add(PointwiseFn::abs, {w.add(PointwiseFn::sub, {x, z})});
      auto rows = ir::Dims::filled(shape.rank() - 1, 0), all = ir::Dims::filled(shape.rank(), 0);
      for (int d = 0; d < shape.rank(); ++d) all[d] = d;
      for (int d = 0; d + 1 < shape.rank(); ++d) rows[d] = d;
      check(w.finish({w.sum(y, rows), w.sum(y, all), w.sum(u, all), u}), 100);
    }
  }
}

}  // namespace
}  // namespace burn::testing
