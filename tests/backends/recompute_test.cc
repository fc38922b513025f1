// Values computed again instead of being kept between kernels.
#include "compile/plan/recompute.h"

#include <algorithm>
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "tests/backends/random_program.h"
#include "tests/backends/test_device.h"
#include "tests/ops/samples.h"

namespace burn::backends {
namespace {

using ir::PointwiseFn;
using ir::Ref;

const ir::TensorType kLarge{ir::DType::f32, {512, 512}};

class Recompute : public ::testing::Test {
 protected:
  Ref input(const ir::TensorType& type) { return builder.add_input(type); }
  Ref apply(PointwiseFn fn, std::initializer_list<Ref> x) {
    return *builder.add(ir::Pointwise{fn}, std::span(x.begin(), x.size()));
  }
  Ref matmul(Ref a, Ref b) { return *builder.add(ir::MatMul{}, std::array{a, b}); }
  Ref cast(Ref x, ir::DType dtype) { return *builder.add(ir::Cast{dtype}, {&x, 1}); }
  // The op names of pointwise values and casts that the plan's steps store in memory and that are not outputs.
  std::vector<std::string> kept(std::vector<Ref> outputs, const compile::PlanOptions& options = {}) {
    const auto program = compile::prepare(builder.finish(std::move(outputs)), options);
    const auto plan = compile::make_plan(program, options);
    std::vector<std::string> names;
    for (const auto& step : plan.steps) {
      for (const auto ref : step.results) {
        const auto& node = program.maker_of(ref);
        if (std::ranges::find(program.outputs, ref) != program.outputs.end()) continue;
        if (std::holds_alternative<ir::Pointwise>(node.op) || std::holds_alternative<ir::Cast>(node.op))
          names.emplace_back(ir::name(node.op));
      }
    }
    return names;
  }

  ir::ProgramBuilder builder;
};

// y = tanh(x^2) goes into a product, and y^2 x^2 meets what comes back from it.
TEST_F(Recompute, AnActivationsPartsAreNotKept) {
  const auto x = input(kLarge), w = input(kLarge);
  const auto square = apply(PointwiseFn::mul, {x, x});
  const auto half = apply(PointwiseFn::exp, {square}), y = apply(PointwiseFn::tanh, {half});
  const auto product = matmul(y, w);
  const auto result = apply(PointwiseFn::add, {product, apply(PointwiseFn::mul, {half, square})});
  EXPECT_THAT(kept({result}), ::testing::ElementsAre("tanh"));  // which the product reads
}

TEST_F(Recompute, OffTheyAre) {
  const auto x = input(kLarge), w = input(kLarge);
  const auto square = apply(PointwiseFn::mul, {x, x}), y = apply(PointwiseFn::tanh, {square});
  const auto product = matmul(y, w);
  const auto result = apply(PointwiseFn::add, {apply(PointwiseFn::neg, {product}), square});
  EXPECT_THAT(kept({result}, {.recompute = false}), ::testing::UnorderedElementsAre("mul", "tanh"));
}

TEST_F(Recompute, CastsAreReadInTheNarrowDtype) {
  const auto x = input({ir::DType::bf16, kLarge.shape}), w = input(kLarge);
  const auto wide = cast(x, ir::DType::f32), y = apply(PointwiseFn::exp, {wide});
  const auto result = apply(PointwiseFn::add, {matmul(y, w), wide});
  EXPECT_THAT(kept({result}), ::testing::ElementsAre("exp"));
}

TEST_F(Recompute, WhatNeedsMoreThanItIsIsKept) {
  const auto a = input(kLarge), b = input(kLarge), w = input(kLarge);
  const auto sum = apply(PointwiseFn::add, {a, b}), root = apply(PointwiseFn::sqrt, {sum});
  const auto y = apply(PointwiseFn::exp, {root});
  const auto product = matmul(y, w);
  const auto result = apply(PointwiseFn::mul, {apply(PointwiseFn::mul, {product, sum}), root});
  // The sum of two inputs stays; its root is made of the sum.
  EXPECT_THAT(kept({result}), ::testing::UnorderedElementsAre("add", "exp"));
}

TEST_F(Recompute, NumbersOfARowAreKeptAndReadAgain) {
  const auto x = input(kLarge), w = input(kLarge);
  const auto largest = *builder.add(ir::Reduce{ir::ReduceFn::max, {1}}, {&x, 1});
  const auto shifted = apply(PointwiseFn::sub, {x, *builder.add(ir::Expand{kLarge.shape}, {&largest, 1})});
  const auto y = apply(PointwiseFn::exp, {shifted});
  const auto result = apply(PointwiseFn::mul, {matmul(y, w), shifted});
  EXPECT_THAT(kept({result}), ::testing::ElementsAre("exp"));
}

TEST_F(Recompute, SmallValuesAndOutputsAreLeftAlone) {
  const ir::TensorType small{ir::DType::f32, {16, 16}};
  const auto x = input(small), w = input(small);
  const auto square = apply(PointwiseFn::mul, {x, x}), y = apply(PointwiseFn::tanh, {square});
  const auto made = builder.finish({apply(PointwiseFn::add, {matmul(y, w), square})});
  EXPECT_TRUE(std::ranges::none_of(compile::prepare(made, {}).nodes, &ir::Node::recompute));
  EXPECT_TRUE(std::ranges::any_of(compile::prepare(made, {.recompute_bytes = 64}).nodes, &ir::Node::recompute));

  const auto a = input(kLarge), b = input(kLarge);
  const auto doubled = apply(PointwiseFn::add, {a, a}), e = apply(PointwiseFn::exp, {doubled});
  const auto last = apply(PointwiseFn::add, {matmul(e, b), doubled});
  EXPECT_TRUE(std::ranges::none_of(compile::prepare(builder.finish({last, doubled}), {}).nodes, &ir::Node::recompute));
}

TEST(RecomputeAtRandom, GivesTheSameNumbers) {
  testing::TestDevice device{*open_cpu_backend()};
  int changed = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const auto [program, inputs] = testing::random_program(seed);
    const auto again = compile::prepare(program, {.recompute_bytes = 8});
    changed += std::ranges::any_of(again.nodes, &ir::Node::recompute) ? 1 : 0;
    const auto expected = testing::run_program(device, program, inputs);
    const auto got = testing::run_program(device, again, inputs);
    ASSERT_TRUE(expected.ok() && got.ok()) << ir::to_string(again);
    for (std::size_t k = 0; k < got->size(); ++k) {
      ASSERT_EQ(testing::first_difference((*got)[k], (*expected)[k], 20, 4), "") << "seed " << seed << "\n"
                                                                                 << ir::to_string(again);
    }
  }
  EXPECT_GT(changed, 20);
}

}  // namespace
}  // namespace burn::backends
