#include "backends/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::backends {
namespace {

using ir::Ref;
using ::testing::ElementsAre;

Ref add(ir::ProgramBuilder& program, ir::PointwiseFn fn, std::initializer_list<Ref> operands) {
  return *program.add(ir::Pointwise{fn}, std::span(operands.begin(), operands.size()));
}

TEST(Plan, LeavesOutWhatNoOutputNeeds) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto used = add(program, ir::PointwiseFn::exp, {x});
  const auto dead = add(program, ir::PointwiseFn::log, {x});
  add(program, ir::PointwiseFn::neg, {dead});
  const auto result = add(program, ir::PointwiseFn::sqrt, {used});
  const auto plan = make_plan(program.finish({result}));
  EXPECT_THAT(plan.order, ElementsAre(0, 3));
  EXPECT_EQ(plan.last_use(dead), Plan::kUnused);
}

TEST(Plan, KnowsTheLastUseOfEveryValue) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}}), unused = program.add_input({ir::DType::f32, {4}});
  const auto a = add(program, ir::PointwiseFn::exp, {x});
  const auto b = add(program, ir::PointwiseFn::mul, {a, x});
  const auto c = add(program, ir::PointwiseFn::add, {a, b});
  const auto plan = make_plan(program.finish({b, c}));
  EXPECT_EQ(plan.last_use(x), 1);
  EXPECT_EQ(plan.last_use(a), 2);
  EXPECT_EQ(plan.last_use(b), Plan::kOutput);
  EXPECT_EQ(plan.last_use(c), Plan::kOutput);
  EXPECT_EQ(plan.last_use(unused), Plan::kUnused);
}

TEST(Plan, OfAProgramWithoutOutputsIsEmpty) {
  ir::ProgramBuilder program;
  add(program, ir::PointwiseFn::exp, {program.add_input({ir::DType::f32, {4}})});
  EXPECT_TRUE(make_plan(program.finish({})).order.empty());
}

}  // namespace
}  // namespace burn::backends
