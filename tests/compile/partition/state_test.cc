// A step of training whose state a program says to be split: what is summed, computed and put together, and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/compile/partition/lockstep.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

using compile::partition::balanced;
using compile::partition::Layout;
using compile::partition::partition;

struct Splits {
  bool moments = false, parameters = false;
  bool is_new = false;  // state is made in the program
};

// A layer that learns by Adam, as a client records it. Inputs: a batch and what it should become; the weight; two
// moments of it. Outputs: the loss; the weight and its moments after the step.
class AdamStep {
 public:
  explicit AdamStep(Splits splits) : splits_(splits) {}

  ir::Program program() {
    const auto batch = builder_.add_input(f32({64, 16})), target = builder_.add_input(f32({64, 8}));
    std::vector<ir::Ref> state;
    for (int i = 0; i < 3; ++i) {
      state.push_back(builder_.add_input(f32({16, 8})));
      builder_.donate(state.back().index());
      if (splits_.is_new) state.back() = add(ir::PointwiseFn::abs, {state.back()});
    }
    const auto error = add(ir::PointwiseFn::sub, {add(ir::MatMul{}, {batch, state[0]}), target});
    const auto loss = add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {add(ir::PointwiseFn::mul, {error, error})});
    const auto g = add(ir::MatMul{}, {add(ir::Permute{{1, 0}}, {batch}), error});
    const auto ok = add(ir::Commit{}, {});
    const auto m = average(state[1], g, 0.9);
    const auto v = average(state[2], add(ir::PointwiseFn::mul, {g, g}), 0.99);
    const auto root = add(ir::PointwiseFn::add, {add(ir::PointwiseFn::sqrt, {v}), number(1e-5)});
    const auto step = add(ir::PointwiseFn::div, {add(ir::PointwiseFn::mul, {m, number(0.01)}), root});
    const auto w = add(ir::PointwiseFn::sub, {state[0], step});
    return builder_.finish({loss, kept(ok, w, state[0], splits_.parameters), kept(ok, m, state[1], splits_.moments),
                            kept(ok, v, state[2], splits_.moments)});
  }

 private:
  static ir::TensorType f32(const ir::Shape& shape) { return {ir::DType::f32, shape}; }
  ir::Ref add(const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size())));
  }
  ir::Ref add(ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  ir::Ref number(double real) { return add(ir::Constant{ir::DType::f32, 0, real}, {}); }
  ir::Ref average(ir::Ref old, ir::Ref next, double decay) {
    return add(ir::PointwiseFn::add,
               {add(ir::PointwiseFn::mul, {old, number(decay)}), add(ir::PointwiseFn::mul, {next, number(1 - decay)})});
  }
  ir::Ref kept(ir::Ref ok, ir::Ref next, ir::Ref old, bool is_placed) {
    const auto chosen = add(ir::PointwiseFn::select, {ok, next, old});
    return is_placed ? add(ir::Place{0}, {chosen}) : chosen;
  }

  const Splits splits_;
  ir::ProgramBuilder builder_;
};

const Layout kRows = Layout::split(0, balanced(16, 2));

std::vector<Layout> layouts(const Layout& weight, const Layout& moments) {
  const auto batch = Layout::split(0, balanced(64, 2));
  return {batch, batch, weight, moments, moments};
}

// "reduce_scatter 256 bytes", in the order in which the members perform them.
std::vector<std::string> collectives(const compile::partition::Partitioned& partitioned) {
  std::vector<std::string> texts;
  for (const auto& made : partitioned.conversions) texts.push_back(made.kind + " " + std::to_string(made.bytes));
  return texts;
}

compile::partition::Partitioned expect_same_outputs(Splits splits, const std::vector<Layout>& lie) {
  const auto program = AdamStep(splits).program();
  auto partitioned = partition(program, lie, 2).value();
  std::vector<reference::Tensor> inputs;
  for (const auto& input : program.inputs) {
    auto& x = inputs.emplace_back(input.type);
    for (std::size_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>((i * 37 + inputs.size()) % 11) / 8);
  }
  const auto expected = reference::evaluate(program, inputs);
  const auto actual = run_partitioned(program, partitioned, lie, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(first_difference(actual[k], expected[k]), "") << "output " << k << "\n" << to_string(partitioned);
  return partitioned;
}

// The weight has 512 bytes: the sum of a gradient on both members takes 512 of each, a part of it 256.
TEST(PartitionedState, OfMomentsThatAreSplitTakesPartsOfGradientsAndGathersParameters) {
  const auto step = expect_same_outputs({.moments = true}, layouts({}, kRows));
  EXPECT_THAT(collectives(step),
              ::testing::ElementsAre("all_reduce 4", "reduce_scatter 256", "all_reduce 1", "all_gather 256"))
      << to_string(step);
  EXPECT_THAT(step.outputs, ::testing::ElementsAre(Layout{}, Layout{}, kRows, kRows));
}

TEST(PartitionedState, BecomesSplitInTheFirstStepThatPlacesIt) {
  const auto step = expect_same_outputs({.moments = true}, layouts({}, {}));
  EXPECT_THAT(collectives(step),
              ::testing::ElementsAre("all_reduce 4", "reduce_scatter 256", "all_reduce 1", "all_gather 256"))
      << to_string(step);
  EXPECT_THAT(step.outputs, ::testing::ElementsAre(Layout{}, Layout{}, kRows, kRows));
}

TEST(PartitionedState, ThatIsNewIsSplitOnlyWhereItIsPlaced) {
  const auto step = expect_same_outputs({.moments = true, .is_new = true}, layouts({}, {}));
  EXPECT_THAT(collectives(step),
              ::testing::ElementsAre("all_reduce 4", "reduce_scatter 256", "all_reduce 1", "all_gather 256"))
      << to_string(step);
  EXPECT_THAT(step.outputs, ::testing::ElementsAre(Layout{}, Layout{}, kRows, kRows));
}

TEST(PartitionedState, OfParametersThatAreSplitIsGatheredBeforeItsFirstUse) {
  const auto step = expect_same_outputs({.moments = true, .parameters = true}, layouts(kRows, kRows));
  EXPECT_THAT(collectives(step),
              ::testing::ElementsAre("all_gather 256", "all_reduce 4", "reduce_scatter 256", "all_reduce 1"))
      << to_string(step);
  EXPECT_THAT(step.outputs, ::testing::ElementsAre(Layout{}, kRows, kRows, kRows));
  for (const auto& input : step.members[1]->inputs) EXPECT_NE(input.type.shape[0], 16) << "all of it is split";
}

TEST(PartitionedState, StaysAsItLiesWhereNothingPlacesIt) {
  const auto step = expect_same_outputs({}, layouts({}, kRows));
  EXPECT_THAT(step.outputs, ::testing::ElementsAre(Layout{}, Layout{}, kRows, kRows));
  const auto whole = expect_same_outputs({}, layouts({}, {}));
  EXPECT_THAT(collectives(whole), ::testing::ElementsAre("all_reduce 4", "all_reduce 512", "all_reduce 1"));
}

// Bounds of a fleet whose workers differ: 5 and 11 rows.
TEST(PartitionedState, KeepsBoundsThatItHas) {
  const auto uneven = Layout::split(0, {0, 5, 16});
  const auto step = expect_same_outputs({.moments = true}, layouts({}, uneven));
  EXPECT_THAT(step.outputs, ::testing::ElementsAre(Layout{}, Layout{}, uneven, uneven));
}

}  // namespace
}  // namespace burn::testing
