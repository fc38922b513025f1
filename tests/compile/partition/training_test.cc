// A step of training that is split by its batch: weights stay whole, and each gradient is summed once.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace burn::testing
