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

// The whole text of what members get, against tests/golden/NAME.txt. BURN_UPDATE_GOLDEN=1 writes it anew.
void expect_golden(const std::string& name, const compile::partition::Partitioned& partitioned) {
  const auto path = "tests/golden/" + name + ".txt";  // tests run in the repository's root
  if (std::getenv("BURN_UPDATE_GOLDEN")) std::ofstream{path} << to_string(partitioned);
  std::ostringstream golden;
  golden << std::ifstream{path}.rdbuf();
  EXPECT_EQ(to_string(partitioned), golden.str());
}

TEST(PartitionedTraining, OfAdamIsThatOfTheGoldenText) {
  const auto program = adam_step(8);
  const auto layouts = split_batch(program, balanced(8, 2));
  const auto partitioned = partition(program, layouts, 2).value();
  expect_golden("partitioned_adam_step", partitioned);

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

// The same with parameters that are whole between steps.
TEST(PartitionedTraining, OfAdamWithSplitMomentsAndWholeParametersIsThatOfTheGoldenText) {
  const auto program = adam_step(8);
  auto layouts = split_batch(program, balanced(8, 2));
  layouts[4] = layouts[5] = Layout::split(0, balanced(3, 2));
  layouts[6] = layouts[7] = Layout::split(0, balanced(2, 2));
  const auto partitioned = partition(program, layouts, 2).value();
  EXPECT_THAT(kinds(partitioned), ::testing::UnorderedElementsAre("all_gather", "all_gather", "reduce_scatter",
                                                                  "reduce_scatter", "all_reduce", "all_reduce"))
      << to_string(partitioned);
  expect_golden("partitioned_zero1_step", partitioned);
}

// Writes steps of plain gradient descent. Inputs: a batch and its targets, then parameters, which outputs replace.
class StepWriter {
 public:
  ir::Ref input(const ir::Shape& shape) { return builder_.add_input({ir::DType::f32, shape}); }
  ir::Ref parameter(const ir::Shape& shape) {
    parameters_.push_back(input(shape));
    builder_.donate(parameters_.back().index());
    return parameters_.back();
  }
  ir::Ref add(const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size())));
  }
  ir::Ref add(ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  ir::Ref mul(ir::Ref a, ir::Ref b) { return add(ir::PointwiseFn::mul, {a, b}); }
  ir::Ref scaled(ir::Ref x, double by) { return mul(x, add(ir::Constant{ir::DType::f32, 0, by}, {})); }
  ir::Ref product(ir::Ref a, ir::Ref b) { return add(ir::MatMul{}, {a, b}); }
  ir::Ref transposed(ir::Ref x) { return add(ir::Permute{{1, 0}}, {x}); }
  ir::Ref rows_summed(ir::Ref x) { return add(ir::Reduce{ir::ReduceFn::sum, {0}}, {x}); }
  ir::Ref repeated(ir::Ref row, const ir::Shape& shape) { return add(ir::Expand{shape}, {row}); }
  ir::Ref squared_error(ir::Ref error, double count) {
    return scaled(add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {mul(error, error)}), 1 / count);
  }
  // `gradients` of the parameters, in their order.
  ir::Program finish(ir::Ref loss, const std::vector<ir::Ref>& gradients) {
    const auto ok = add(ir::Commit{}, {});
    std::vector<ir::Ref> outputs{loss};
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto now = add(ir::PointwiseFn::sub, {parameters_[i], scaled(gradients[i], 0.1)});
      outputs.push_back(add(ir::PointwiseFn::select, {ok, now, parameters_[i]}));
    }
    return builder_.finish(std::move(outputs));
  }

 private:
  ir::ProgramBuilder builder_;
  std::vector<ir::Ref> parameters_;
};

// Two layers, the first split by its columns and the second by its rows: members sum once, behind the second.
TEST(PartitionedTraining, OfWeightsThatAreSplitIsThatOfTheGoldenText) {
  StepWriter w;
  const auto x = w.input({6, 4}), target = w.input({6, 4});
  const auto up = w.parameter({4, 8}), down = w.parameter({8, 4});
  const auto hidden = w.add(ir::PointwiseFn::tanh, {w.product(x, up)});
  const auto error = w.add(ir::PointwiseFn::sub, {w.product(hidden, down), target});
  const auto loss = w.squared_error(error, 24);
  const auto grad = w.scaled(error, 2.0 / 24);
  const auto grad_hidden = w.product(grad, w.transposed(down));
  const auto grad_sum = w.add(ir::PointwiseFn::sub, {grad_hidden, w.mul(grad_hidden, w.mul(hidden, hidden))});
  const auto program = w.finish(loss, {w.product(w.transposed(x), grad_sum), w.product(w.transposed(hidden), grad)});
  const std::vector<Layout> layouts{{}, {}, Layout::split(1, balanced(8, 2)), Layout::split(0, balanced(8, 2))};
  expect_same_outputs(program, layouts, 2);
  expect_golden("partitioned_tensor_parallel_step", partition(program, layouts, 2).value());
}

// A layer behind which a batch norm takes mean and variance over the whole batch.
TEST(PartitionedTraining, OfABatchNormIsThatOfTheGoldenText) {
  StepWriter w;
  const ir::Shape shape{8, 3};
  const auto x = w.input({8, 4}), target = w.input(shape);
  const auto weight = w.parameter({4, 3}), scale = w.parameter({1, 3}), shift = w.parameter({1, 3});
  const auto mean_of = [&](ir::Ref v) { return w.repeated(w.scaled(w.rows_summed(v), 1.0 / 8), shape); };
  const auto y = w.product(x, weight);
  const auto centred = w.add(ir::PointwiseFn::sub, {y, mean_of(y)});
  const auto variance = mean_of(w.mul(centred, centred));
  const auto epsilon = w.add(ir::Constant{ir::DType::f32, 0, 1e-5}, {});
  const auto deviation = w.add(ir::PointwiseFn::sqrt, {w.add(ir::PointwiseFn::add, {variance, epsilon})});
  const auto normal = w.add(ir::PointwiseFn::div, {centred, deviation});
  const auto out = w.add(ir::PointwiseFn::add, {w.mul(normal, w.repeated(scale, shape)), w.repeated(shift, shape)});
  const auto error = w.add(ir::PointwiseFn::sub, {out, target});
  const auto loss = w.squared_error(error, 24);
  const auto grad = w.scaled(error, 2.0 / 24), grad_normal = w.mul(grad, w.repeated(scale, shape));
  const auto grad_centred = w.add(ir::PointwiseFn::sub, {grad_normal, mean_of(grad_normal)});
  const auto along = w.mul(normal, mean_of(w.mul(grad_normal, normal)));
  const auto grad_y = w.add(ir::PointwiseFn::div, {w.add(ir::PointwiseFn::sub, {grad_centred, along}), deviation});
  const auto program =
      w.finish(loss, {w.product(w.transposed(x), grad_y), w.rows_summed(w.mul(grad, normal)), w.rows_summed(grad)});
  const auto layouts = split_batch(program, balanced(8, 2));
  expect_same_outputs(program, layouts, 2);
  expect_same_outputs(program, split_batch(program, {0, 5, 5, 8}), 3);
  expect_golden("partitioned_batch_norm_step", partition(program, layouts, 2).value());
}

}  // namespace
}  // namespace burn::testing
