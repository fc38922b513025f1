#include "backends/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/plan/simplify.h"

namespace burn::backends {
namespace {

using ir::Ref;
using ::testing::ElementsAre;

Ref add(ir::ProgramBuilder& program, ir::PointwiseFn fn, std::initializer_list<Ref> operands) {
  return *program.add(ir::Pointwise{fn}, std::span(operands.begin(), operands.size()));
}

// One step per node, so that a test can speak of each.
Plan plan_singly(const ir::Program& program) { return make_plan(program, {.fusion = false}); }

TEST(Simplify, LeavesOutWhatNoOutputNeeds) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto used = add(program, ir::PointwiseFn::exp, {x});
  const auto dead = add(program, ir::PointwiseFn::log, {x});
  add(program, ir::PointwiseFn::neg, {dead});
  const auto result = add(program, ir::PointwiseFn::sqrt, {used});
  const auto simple = simplify(program.finish({result}), true);
  ASSERT_EQ(simple.nodes.size(), 2u);
  EXPECT_EQ(ir::name(simple.nodes[0].op), "exp");
  EXPECT_EQ(ir::name(simple.nodes[1].op), "sqrt");
  EXPECT_THAT(simple.outputs, ElementsAre(Ref::node(1)));
}

TEST(Simplify, ComputesWhatIsAskedForTwiceOnce) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}}), y = program.add_input({ir::DType::f32, {4}});
  const auto a = add(program, ir::PointwiseFn::exp, {x}), again = add(program, ir::PointwiseFn::exp, {x});
  const auto other = add(program, ir::PointwiseFn::exp, {y});
  const auto sum = add(program, ir::PointwiseFn::add, {a, again}),
             result = add(program, ir::PointwiseFn::mul, {sum, other});
  const auto made = program.finish({result});
  EXPECT_EQ(simplify(made, true).nodes.size(), 4u);
  EXPECT_EQ(simplify(made, false).nodes.size(), 5u);
}

TEST(Simplify, KeepsEqualOutputsApart) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto a = add(program, ir::PointwiseFn::exp, {x}), again = add(program, ir::PointwiseFn::exp, {x});
  const auto simple = simplify(program.finish({a, again}), true);
  EXPECT_THAT(simple.outputs, ElementsAre(Ref::node(0), Ref::node(1)));
}

TEST(Plan, KnowsTheLastUseOfEveryValue) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}}), unused = program.add_input({ir::DType::f32, {4}});
  const auto a = add(program, ir::PointwiseFn::exp, {x});
  const auto b = add(program, ir::PointwiseFn::mul, {a, x});
  const auto c = add(program, ir::PointwiseFn::add, {a, b});
  const auto plan = plan_singly(program.finish({b, c}));
  EXPECT_EQ(plan.last_use(x), 1);
  EXPECT_EQ(plan.last_use(a), 2);
  EXPECT_EQ(plan.last_use(b), Plan::kOutput);
  EXPECT_EQ(plan.last_use(c), Plan::kOutput);
  EXPECT_EQ(plan.last_use(unused), Plan::kUnused);
}

TEST(Plan, OfAProgramWithoutOutputsIsEmpty) {
  ir::ProgramBuilder program;
  add(program, ir::PointwiseFn::exp, {program.add_input({ir::DType::f32, {4}})});
  EXPECT_TRUE(make_plan(simplify(program.finish({}), true)).steps.empty());
}

}  // namespace
}  // namespace burn::backends
