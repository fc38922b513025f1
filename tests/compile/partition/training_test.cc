// A step of training that is split by its batch: weights stay whole, and each gradient is summed once.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/compile/partition/lockstep.h"
#include "tests/compile/training_step.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

using compile::partition::balanced;
using compile::partition::Bounds;
using compile::partition::Layout;
using compile::partition::partition;

std::vector<reference::Tensor> random_inputs(const ir::Program& program) {
  std::mt19937 random(7);
  std::vector<reference::Tensor> inputs;
  for (const auto& input : program.inputs) {
    auto& x = inputs.emplace_back(input.type);
    for (std::size_t i = 0; i < x.size(); ++i) x.set(i, std::uniform_real_distribution<double>(-1, 1)(random));
  }
  return inputs;
}

// The batch and its targets split; all else whole.
std::vector<Layout> split_batch(const ir::Program& program, const Bounds& bounds) {
  std::vector<Layout> layouts(program.inputs.size());
  layouts[0] = layouts[1] = Layout::split(0, bounds);
  return layouts;
}

void expect_same_outputs(const ir::Program& program, const std::vector<Layout>& layouts, int members) {
  const auto partitioned = partition(program, layouts, members);
  ASSERT_TRUE(partitioned.ok()) << partitioned.status().message();
  const auto inputs = random_inputs(program);
  const auto expected = reference::evaluate(program, inputs);
  const auto actual = run_partitioned(program, *partitioned, layouts, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(first_difference(actual[k], expected[k]), "") << "output " << k << "\n" << to_string(*partitioned);
}

std::vector<std::string> kinds(const compile::partition::Partitioned& partitioned) {
  std::vector<std::string> kinds;
  for (const auto& conversion : partitioned.conversions) kinds.push_back(conversion.kind);
  return kinds;
}

TEST(PartitionedTraining, GivesWhatOneDeviceGives) {
  const auto program = TrainingStep({12, {6, 5, 7, 3}}).program();
  expect_same_outputs(program, split_batch(program, {0, 6, 12}), 2);
  expect_same_outputs(program, split_batch(program, {0, 1, 9, 12}), 3);
  expect_same_outputs(program, split_batch(program, {0, 0, 12, 12}), 3);
}

TEST(PartitionedTraining, SumsTheLossAndEachGradientOnce) {
  const auto program = TrainingStep({12, {6, 5, 7, 3}}).program();
  const auto layouts = split_batch(program, balanced(12, 2));
  const auto partitioned = partition(program, layouts, 2).value();
  EXPECT_THAT(kinds(partitioned), ::testing::AllOf(::testing::SizeIs(7), ::testing::Each("all_reduce")))
      << to_string(partitioned);
  for (const auto& layout : partitioned.outputs) EXPECT_TRUE(layout.is_whole());
  EXPECT_EQ(partitioned.members[0]->inputs.size(), program.inputs.size());
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    EXPECT_EQ(partitioned.members[1]->inputs[i].donated, program.inputs[i].donated);
}

TEST(PartitionedTraining, StateThatIsSplitStaysSplit) {
  const auto program = TrainingStep({12, {6, 4, 8, 3}}).program();
  auto layouts = split_batch(program, balanced(12, 2));
  layouts[2] = layouts[8] = Layout::split(0, balanced(6, 2));  // the first weight and its moment
  expect_same_outputs(program, layouts, 2);
  const auto partitioned = partition(program, layouts, 2).value();
  EXPECT_EQ(partitioned.outputs[1], layouts[2]);
  EXPECT_EQ(partitioned.outputs[7], layouts[8]);
  EXPECT_THAT(kinds(partitioned), ::testing::Contains("reduce_scatter"));
}

// A layer that learns by Adam, in a step that a Commit guards. Inputs: a batch and its targets; weight and bias; two
// moments of each. Outputs: the loss, then all of the state.
ir::Program adam_step(std::int64_t batch) {
  ir::ProgramBuilder builder;
  const auto input = [&](const ir::Shape& shape, bool is_state) {
    const auto ref = builder.add_input({ir::DType::f32, shape});
    if (is_state) builder.donate(ref.index());
    return ref;
  };
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size())));
  };
  const auto apply = [&](ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) {
    return add(ir::Pointwise{fn}, operands);
  };
  const auto number = [&](double real) { return add(ir::Constant{ir::DType::f32, 0, real}, {}); };
  const auto scaled = [&](ir::Ref x, double by) { return apply(ir::PointwiseFn::mul, {x, number(by)}); };

  const auto x = input({batch, 3}, false), target = input({batch, 2}, false);
  std::vector<ir::Ref> state;
  for (const auto& shape :
       {ir::Shape{3, 2}, ir::Shape{2}, ir::Shape{3, 2}, ir::Shape{3, 2}, ir::Shape{2}, ir::Shape{2}})
    state.push_back(input(shape, true));
  const auto weight = state[0], bias = state[1];
  const auto rows = add(ir::Expand{{batch, 2}}, {add(ir::Reshape{{1, 2}}, {bias})});
  const auto error =
      apply(ir::PointwiseFn::sub, {apply(ir::PointwiseFn::add, {add(ir::MatMul{}, {x, weight}), rows}), target});
  const auto count = static_cast<double>(batch) * 2;
  const auto loss =
      scaled(add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {apply(ir::PointwiseFn::mul, {error, error})}), 1 / count);
  const auto grad = scaled(error, 2 / count);
  const std::vector<ir::Ref> grads{add(ir::MatMul{}, {add(ir::Permute{{1, 0}}, {x}), grad}),
                                   add(ir::Reshape{{2}}, {add(ir::Reduce{ir::ReduceFn::sum, {0}}, {grad})})};
  const auto rate = builder.add_scalar(ir::DType::f32);
  std::vector<ir::Ref> now(state.size());
  for (std::size_t p = 0; p < 2; ++p) {
    const auto first = 2 + 2 * p, second = first + 1;
    now[first] = apply(ir::PointwiseFn::add, {scaled(state[first], 0.9), scaled(grads[p], 0.1)});
    const auto square = apply(ir::PointwiseFn::mul, {grads[p], grads[p]});
    now[second] = apply(ir::PointwiseFn::add, {scaled(state[second], 0.99), scaled(square, 0.01)});
    const auto length = apply(ir::PointwiseFn::add, {apply(ir::PointwiseFn::sqrt, {now[second]}), number(1e-8)});
    const auto step = apply(ir::PointwiseFn::mul, {apply(ir::PointwiseFn::div, {now[first], length}), rate});
    now[p] = apply(ir::PointwiseFn::sub, {state[p], step});
  }
  const auto ok = add(ir::Commit{}, {});
  std::vector<ir::Ref> outputs{loss};
  for (std::size_t i = 0; i < state.size(); ++i)
    outputs.push_back(apply(ir::PointwiseFn::select, {ok, now[i], state[i]}));
  return builder.finish(std::move(outputs));
}

// BURN_UPDATE_GOLDEN=1 writes it anew.
TEST(PartitionedTraining, OfAdamIsThatOfTheGoldenText) {
  constexpr const char* kPath = "tests/golden/partitioned_adam_step.txt";  // tests run in the repository's root
  const auto program = adam_step(8);
  const auto layouts = split_batch(program, balanced(8, 2));
  const auto partitioned = partition(program, layouts, 2).value();
  if (std::getenv("BURN_UPDATE_GOLDEN")) std::ofstream{kPath} << to_string(partitioned);
  std::ostringstream golden;
  golden << std::ifstream{kPath}.rdbuf();
  EXPECT_EQ(to_string(partitioned), golden.str());

  auto inputs = random_inputs(program);
  for (const std::size_t second : {5, 7}) {  // sums of squares
    for (std::size_t i = 0; i < inputs[second].size(); ++i)
      inputs[second].set(i, std::abs(inputs[second].get<double>(i)));
  }
  const reference::Bindings bindings{{std::bit_cast<std::uint64_t>(0.01)}, 0, 0};
  const auto expected = reference::evaluate(program, inputs, bindings);
  const auto actual = run_partitioned(program, partitioned, layouts, inputs, bindings);
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(first_difference(actual[k], expected[k], 20), "") << "output " << k;
}

TEST(PartitionedTraining, OfAdamSumsEachGradientOnceAndVotesLast) {
  const auto program = adam_step(8);
  const auto layouts = split_batch(program, balanced(8, 3));
  const auto partitioned = partition(program, layouts, 3).value();
  EXPECT_THAT(kinds(partitioned), ::testing::AllOf(::testing::SizeIs(4), ::testing::Each("all_reduce")));
  EXPECT_EQ(partitioned.conversions.back().bytes, 2);  // the commit: one byte
  for (const auto& layout : partitioned.outputs) EXPECT_TRUE(layout.is_whole());
}

// ZeRO: each member keeps a part of the moments, and updates that part of the parameters.
TEST(PartitionedTraining, OfAdamWithSplitMomentsSendsAsMuchAsBefore) {
  const auto program = adam_step(8);
  auto layouts = split_batch(program, balanced(8, 2));
  layouts[2] = layouts[4] = layouts[5] = Layout::split(0, balanced(3, 2));
  layouts[3] = layouts[6] = layouts[7] = Layout::split(0, balanced(2, 2));
  const auto partitioned = partition(program, layouts, 2).value();
  EXPECT_THAT(kinds(partitioned), ::testing::UnorderedElementsAre("all_gather", "all_gather", "reduce_scatter",
                                                                  "reduce_scatter", "all_reduce", "all_reduce"))
      << to_string(partitioned);
  for (std::size_t i = 2; i < layouts.size(); ++i) EXPECT_EQ(partitioned.outputs[i - 1], layouts[i]);
}

}  // namespace
}  // namespace burn::testing
