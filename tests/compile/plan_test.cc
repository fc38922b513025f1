#include "compile/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/rewrite/simplify.h"

namespace burn::backends {
namespace {

using ir::Ref;
using ::testing::ElementsAre;

Ref add(ir::ProgramBuilder& program, ir::PointwiseFn fn, std::initializer_list<Ref> operands) {
  return *program.add(ir::Pointwise{fn}, std::span(operands.begin(), operands.size()));
}

// A plan with one step per node, so that a test can check each.
compile::Plan plan_singly(const ir::Program& program) { return compile::make_plan(program, {.fusion = false}); }

TEST(Simplify, LeavesOutWhatNoOutputNeeds) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto used = add(program, ir::PointwiseFn::exp, {x});
  const auto dead = add(program, ir::PointwiseFn::log, {x});
  add(program, ir::PointwiseFn::neg, {dead});
  const auto result = add(program, ir::PointwiseFn::sqrt, {used});
  const auto simple = compile::simplify(program.finish({result}), true);
  ASSERT_EQ(simple.nodes.size(), 2u);
  EXPECT_EQ(ir::name(simple.nodes[0].op), "exp");
  EXPECT_EQ(ir::name(simple.nodes[1].op), "sqrt");
  EXPECT_THAT(simple.outputs, ElementsAre(Ref::value(1)));
}

TEST(Simplify, ComputesWhatIsAskedForTwiceOnce) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}}), y = program.add_input({ir::DType::f32, {4}});
  const auto a = add(program, ir::PointwiseFn::exp, {x}), again = add(program, ir::PointwiseFn::exp, {x});
  const auto other = add(program, ir::PointwiseFn::exp, {y});
  const auto sum = add(program, ir::PointwiseFn::add, {a, again}),
             result = add(program, ir::PointwiseFn::mul, {sum, other});
  const auto made = program.finish({result});
  EXPECT_EQ(compile::simplify(made, true).nodes.size(), 4u);
  EXPECT_EQ(compile::simplify(made, false).nodes.size(), 5u);
}

TEST(Simplify, KeepsEqualOutputsApart) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto a = add(program, ir::PointwiseFn::exp, {x}), again = add(program, ir::PointwiseFn::exp, {x});
  const auto simple = compile::simplify(program.finish({a, again}), true);
  EXPECT_THAT(simple.outputs, ElementsAre(Ref::value(0), Ref::value(1)));
}

TEST(Simplify, MergesNodesOfSeveralResultsAndKeepsWhatIsHalfUsed) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto sort = [&] { return *program.add(ir::Sort{0, false}, {&x, 1}); };
  const auto first = sort(), second = sort();
  const auto y = add(program, ir::PointwiseFn::exp, {second});
  const auto simple = compile::simplify(program.finish({y, first.result(1)}), true);
  ASSERT_EQ(simple.nodes.size(), 2u);
  ASSERT_EQ(simple.values.size(), 3u);
  EXPECT_THAT(simple.operands_of(simple.nodes[1]), ElementsAre(Ref::value(0)));
  EXPECT_THAT(simple.outputs, ElementsAre(Ref::value(2), Ref::value(1)));
  EXPECT_EQ(simple.node_of(Ref::value(2)), 1);
}

// Three equal nodes: what is recomputed is merged with neither its original nor another recomputation.
TEST(Simplify, LeavesRecomputationsAlone) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto exp = [&](bool again) { return *program.add(ir::Pointwise{ir::PointwiseFn::exp}, {&x, 1}, {}, again); };
  const auto original = exp(false), again = exp(true), once_more = exp(true);
  const auto sum = add(program, ir::PointwiseFn::add, {original, again});
  const auto made = program.finish({add(program, ir::PointwiseFn::add, {sum, once_more})});
  const auto simple = compile::simplify(made, true);
  EXPECT_EQ(simple.nodes.size(), 5u);
  EXPECT_TRUE(simple.nodes[1].recompute);
}

// No op has an effect yet: nodes are marked by hand, as ProgramBuilder::add marks those of ops with kEffect.
ir::Program with_effects(ir::Program program, std::initializer_list<std::size_t> nodes) {
  for (const auto n : nodes) program.nodes[n].effect = true;
  program.effect_count = static_cast<std::int32_t>(nodes.size());
  return program;
}

TEST(Simplify, KeepsEveryEffectInItsPlace) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  add(program, ir::PointwiseFn::exp, {x});                      // 0: sends x, say
  add(program, ir::PointwiseFn::exp, {x});                      // 1: and once more
  const auto needed = add(program, ir::PointwiseFn::log, {x});  // 2: for 4
  add(program, ir::PointwiseFn::neg, {x});                      // 3: dead
  add(program, ir::PointwiseFn::sqrt, {needed});                // 4
  const auto made = with_effects(program.finish({}), {0, 1, 4});
  const auto simple = compile::simplify(made, true);
  std::vector<std::string_view> names;
  for (const auto& node : simple.nodes) names.push_back(ir::name(node.op));
  EXPECT_THAT(names, ElementsAre("exp", "exp", "log", "sqrt"));
  EXPECT_EQ(simple.effect_count, 3);
  EXPECT_TRUE(simple.nodes[0].effect && simple.nodes[1].effect && simple.nodes[3].effect);
}

// Nodes in the order in which a plan runs them.
std::vector<std::int32_t> order_of(const compile::Plan& plan) {
  std::vector<std::int32_t> order;
  for (const auto& step : plan.steps) {
    if (step.group == compile::PlanStep::kSingle) order.push_back(step.node);
    if (step.group == compile::PlanStep::kSingle) continue;
    for (const auto& member : plan.groups[static_cast<std::size_t>(step.group)].members) order.push_back(member.node);
  }
  return order;
}

// But for the chain 0, 3 and 4 would be one group, which 1 waits for, and with it 2, and that group itself.
TEST(Plan, RunsEffectsInTheOrderOfTheProgramAndInNoGroup) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {64, 64}}), y = program.add_input({ir::DType::f32, {64, 64}});
  const auto a = add(program, ir::PointwiseFn::exp, {x});          // 0
  add(program, ir::PointwiseFn::neg, {a});                         // 1: effect
  const auto received = add(program, ir::PointwiseFn::log, {y});   // 2: effect, of nothing before
  const auto b = add(program, ir::PointwiseFn::sqrt, {received});  // 3
  const auto c = add(program, ir::PointwiseFn::add, {a, b});       // 4: a's group must not take it in
  const auto made = with_effects(program.finish({c}), {1, 2});
  const auto plan = compile::make_plan(made);
  for (const auto& group : plan.groups) {
    for (const auto& member : group.members) {
      EXPECT_FALSE(made.nodes[static_cast<std::size_t>(member.node)].effect);
      EXPECT_NE(member.node, 0);
    }
  }
  EXPECT_THAT(order_of(plan), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(order_of(compile::make_plan(made, {.fusion = false})), ElementsAre(0, 1, 2, 3, 4));
}

// But for the chain the second one would come first: what the first one reads is in a group that ends behind both.
TEST(Plan, AnEffectWaitsForTheOneBeforeIt) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {64, 64}}), y = program.add_input({ir::DType::f32, {64, 64}});
  const auto a = add(program, ir::PointwiseFn::exp, {x});   // 0
  add(program, ir::PointwiseFn::neg, {a});                  // 1: effect
  add(program, ir::PointwiseFn::log, {y});                  // 2: effect
  const auto b = add(program, ir::PointwiseFn::sqrt, {a});  // 3: in the group of 0
  EXPECT_THAT(order_of(compile::make_plan(with_effects(program.finish({b}), {1, 2}))), ElementsAre(0, 3, 1, 2));
}

// Two steps of training in one program: each Commit comes behind what may fail before it, and before what it guards.
TEST(Plan, RunsACommitBehindWhatMayFailBeforeIt) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {8}}), state = program.add_input({ir::DType::f32, {8}});
  const auto index = program.add_input({ir::DType::i64, {8}});
  const auto node = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return *program.add(op, std::span(operands.begin(), operands.size()));
  };
  const auto step = [&](ir::Ref old) {
    const auto ok = node(ir::Commit{}, {});
    const auto picked = node(ir::Gather{0}, {x, index});  // recorded behind it: not covered
    const auto next = add(program, ir::PointwiseFn::add, {old, add(program, ir::PointwiseFn::exp, {x})});
    return std::pair{node(ir::Pointwise{ir::PointwiseFn::select}, {ok, next, old}), picked};
  };
  const auto [first, picked] = step(state);       // 0 to 4
  const auto [second, picked_too] = step(first);  // 5 to 9
  const auto made = program.finish({second, picked, picked_too});
  for (const bool fusion : {true, false}) {
    const auto order = order_of(compile::make_plan(made, {.fusion = fusion}));
    const auto at = [&](std::int32_t n) { return std::ranges::find(order, n) - order.begin(); };
    EXPECT_LT(at(0), at(5));
    EXPECT_LT(at(1), at(5)) << "a gather before the second Commit";
    EXPECT_LT(at(0), at(4));
    EXPECT_LT(at(5), at(9));
  }
  const auto simple = compile::simplify(made, true);
  const auto is_commit = [](const ir::Node& n) { return std::holds_alternative<ir::Commit>(n.op); };
  EXPECT_EQ(std::ranges::count_if(simple.nodes, is_commit), 2) << "never one for the other";
  EXPECT_EQ(simple.effect_count, 0) << "it is not run for its own sake";
}

TEST(Simplify, LetsReadersOfAPlacedValueReadTheValue) {
  for (const bool merge_equal : {true, false}) {
    ir::ProgramBuilder program;
    const auto x = program.add_input({ir::DType::f32, {4, 3}});
    const auto placed = [&](Ref ref, std::int64_t axis) { return *program.add(ir::Place{axis}, {&ref, 1}); };
    const auto sum = add(program, ir::PointwiseFn::add, {placed(x, 0), placed(placed(x, 1), 0)});
    const auto given = placed(sum, 0);
    const auto result = add(program, ir::PointwiseFn::exp, {given});
    const auto simple = compile::simplify(program.finish({result, given}), merge_equal);
    ASSERT_EQ(simple.nodes.size(), 2u);
    EXPECT_THAT(simple.operands_of(simple.nodes[0]), ElementsAre(x, x));
    EXPECT_THAT(simple.operands_of(simple.nodes[1]), ElementsAre(Ref::value(0)));
    EXPECT_THAT(simple.outputs, ElementsAre(Ref::value(1), Ref::value(0)));
  }
}

// Two outputs are two values, and an input is none of them.
TEST(Simplify, LeavesAPlaceThatGivesAnOutputBesideItsOperand) {
  for (const bool merge_equal : {true, false}) {
    ir::ProgramBuilder program;
    const auto x = program.add_input({ir::DType::f32, {4, 3}});
    const auto placed = [&](Ref ref) { return *program.add(ir::Place{0}, {&ref, 1}); };
    const auto sum = add(program, ir::PointwiseFn::add, {x, x});
    const auto equal = add(program, ir::PointwiseFn::add, {x, x});
    const auto first = placed(sum), second = placed(equal), third = placed(second), of_input = placed(x);
    const auto simple = compile::simplify(program.finish({sum, first, second, third, of_input}), merge_equal);
    std::vector<std::string_view> names;
    for (const auto& node : simple.nodes) names.push_back(ir::name(node.op));
    EXPECT_THAT(names, ElementsAre("add", "add", "place", "place", "place"));
    EXPECT_THAT(simple.outputs, ElementsAre(Ref::value(0), Ref::value(2), Ref::value(1), Ref::value(3), Ref::value(4)));
  }
}

TEST(Simplify, LeavesOutACommitThatGuardsNothing) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  (void)*program.add(ir::Commit{}, {});
  const auto made = program.finish({add(program, ir::PointwiseFn::exp, {x})});
  EXPECT_EQ(compile::simplify(made, true).nodes.size(), 1U);
}

TEST(Plan, KeepsAllResultsOfANodeAndTheirLastUses) {
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {4}});
  const auto sorted = *program.add(ir::Sort{0, false}, {&x, 1});
  const auto y = add(program, ir::PointwiseFn::exp, {sorted});
  const auto plan = plan_singly(program.finish({y}));
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_THAT(plan.steps[0].results, ElementsAre(sorted, sorted.result(1)));
  EXPECT_EQ(plan.last_use(sorted), 1);
  EXPECT_EQ(plan.last_use(sorted.result(1)), compile::Plan::kUnused);
  EXPECT_EQ(plan.last_use(y), compile::Plan::kOutput);
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
  EXPECT_EQ(plan.last_use(b), compile::Plan::kOutput);
  EXPECT_EQ(plan.last_use(c), compile::Plan::kOutput);
  EXPECT_EQ(plan.last_use(unused), compile::Plan::kUnused);
}

TEST(Plan, OfAProgramWithoutOutputsIsEmpty) {
  ir::ProgramBuilder program;
  add(program, ir::PointwiseFn::exp, {program.add_input({ir::DType::f32, {4}})});
  EXPECT_TRUE(compile::make_plan(compile::simplify(program.finish({}), true)).steps.empty());
}

}  // namespace
}  // namespace burn::backends
