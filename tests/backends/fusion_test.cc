// What is fused, and that it makes no difference to what is computed.
#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "compile/fusion/fuse.h"
#include "compile/plan/plan.h"
#include "compile/rewrite/simplify.h"
#include "tests/backends/random_program.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using compile::make_plan;
using ir::DType;
using ir::PointwiseFn;
using ir::ReduceFn;
using ir::Ref;
using ::testing::SizeIs;

class FusionTest : public ::testing::Test {
 protected:
  Ref input(const ir::Shape& shape, DType dtype = DType::f32) { return program_.add_input({dtype, shape}); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return *program_.add(op, std::span(operands.begin(), operands.size()), {.file = "model.cc", .line = 7});
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref number(double value) { return add(ir::Constant{DType::f32, 0, value}, {}); }

  // Steps that compute something: neither views nor numbers.
  std::vector<compile::PlanStep> work(std::vector<Ref> outputs, bool absorbs_producers = false) {
    made_ = compile::simplify(program_.finish(std::move(outputs)), true);
    compile::PlanOptions options;
    options.limits.absorbs_producers = absorbs_producers;
    plan_ = compile::make_plan(made_, options);
    std::vector<compile::PlanStep> steps;
    for (const auto& step : plan_.steps) {
      const auto& op = made_.maker_of(step.results[0]).op;
      const bool is_free = std::holds_alternative<ir::Constant>(op) || std::holds_alternative<ir::Expand>(op) ||
                           std::holds_alternative<ir::Reshape>(op) || std::holds_alternative<ir::Permute>(op);
      if (step.group != compile::PlanStep::kSingle || !is_free) steps.push_back(step);
    }
    return steps;
  }
  Ref softmax(Ref x) {
    const auto shape = program_.type_of(x).shape;
    const ir::Dims last{shape.rank() - 1};
    const auto largest = add(ir::Expand{shape}, {add(ir::Reduce{ReduceFn::max, last}, {x})});
    const auto e = add(PointwiseFn::exp, {add(PointwiseFn::sub, {x, largest})});
    return add(PointwiseFn::div, {e, add(ir::Expand{shape}, {add(ir::Reduce{ReduceFn::sum, last}, {e})})});
  }

  ir::ProgramBuilder program_;
  ir::Program made_;
  compile::Plan plan_;
};

TEST_F(FusionTest, MakesOneStepOfAChain) {
  const auto x = input({100});
  const auto y = add(PointwiseFn::mul, {add(PointwiseFn::add, {add(PointwiseFn::erf, {x}), number(1)}), x});
  EXPECT_THAT(work({y}), SizeIs(1));
}

TEST_F(FusionTest, MakesOneStepOfASoftmax) { EXPECT_THAT(work({softmax(input({64, 100}))}), SizeIs(1)); }

TEST_F(FusionTest, MakesOneStepOfTheLossOfEachRow) {
  const auto x = input({64, 10}), target = input({64, 1}, DType::i64);
  const auto log_p = add(PointwiseFn::log, {softmax(x)});
  EXPECT_THAT(work({add(PointwiseFn::neg, {add(ir::Gather{1}, {log_p, target})})}), SizeIs(1));
}

// A label is a number of f32 before grouping finds that rows are compared with it.
TEST_F(FusionTest, TakesInANumberOfEachRowThatOnlyItReads) {
  const auto steps = [&](bool absorbs_producers, bool others_read_it) {
    const auto x = input({64, 10}), labels = input({64, 1}, DType::i64);
    const auto label = add(ir::Cast{DType::f32}, {labels});
    const auto y = softmax(x);
    const auto z = add(PointwiseFn::mul, {y, add(ir::Expand{{64, 10}}, {label})});
    return work(others_read_it ? std::vector{z, label} : std::vector{z}, absorbs_producers);
  };
  EXPECT_THAT(steps(false, false), SizeIs(2));
  EXPECT_THAT(steps(true, false), SizeIs(1));
  EXPECT_THAT(steps(true, true), SizeIs(2));
}

TEST_F(FusionTest, TakesInNothingThatAGatherPicksBy) {
  const auto x = input({64, 10}), labels = input({64, 1}, DType::i64);
  const auto label = add(PointwiseFn::add, {labels, labels});
  EXPECT_THAT(work({add(PointwiseFn::neg, {add(ir::Gather{1}, {softmax(x), label})})}, true), SizeIs(2));
}

TEST_F(FusionTest, ComputesFormulasOfNumbersBeforehand) {
  const auto rows = add(ir::Expand{{64}}, {add(PointwiseFn::div, {number(1), number(3)})});
  const auto y = add(PointwiseFn::mul, {input({64}), add(PointwiseFn::neg, {rows})});
  EXPECT_THAT(work({y}), SizeIs(1));
  const auto& read = plan_.steps.back().reads;
  ASSERT_THAT(read, SizeIs(2));
  const auto& expand = made_.maker_of(read[1]);
  ASSERT_TRUE(std::holds_alternative<ir::Expand>(expand.op));
  const auto* made = std::get_if<ir::Constant>(&made_.maker_of(made_.operands_of(expand)[0]).op);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->real, static_cast<double>(-(1.0F / 3.0F)));  // as it is in f32
  for (const auto& node : made_.nodes) {
    const auto* function = std::get_if<ir::Pointwise>(&node.op);
    EXPECT_TRUE(!function || function->fn == PointwiseFn::mul);
  }
}

TEST_F(FusionTest, LeavesLongRowsToKernelsThatShareThemOut) {
  EXPECT_THAT(work({softmax(input({2, 100'000}))}), SizeIs(4));
}

TEST_F(FusionTest, LeavesAReductionOfColumnsAlone) {
  const auto x = input({64, 10});
  const auto y = add(PointwiseFn::mul, {add(PointwiseFn::exp, {x}), x});
  const auto steps = work({add(ir::Reduce{ReduceFn::sum, {0}}, {y})});
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[1].group, compile::PlanStep::kSingle);
}

TEST_F(FusionTest, KeepsApartWhatAProductStandsBetween) {
  const auto x = input({8, 8});
  const auto a = add(PointwiseFn::exp, {add(PointwiseFn::neg, {x})});
  const auto product = add(ir::MatMul{}, {a, a});
  // Needs both the group's value and the product of it: one step for all would wait for itself.
  const auto y = add(PointwiseFn::add, {add(PointwiseFn::mul, {product, a}), a});
  EXPECT_THAT(work({y}), SizeIs(3));
}

TEST_F(FusionTest, WritesOnlyWhatIsReadOutside) {
  const auto x = input({100});
  const auto kept = add(PointwiseFn::exp, {x});
  const auto y = add(PointwiseFn::mul, {add(PointwiseFn::add, {kept, x}), x});
  const auto steps = work({kept, y});
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_THAT(steps[0].results, SizeIs(2));
  EXPECT_THAT(steps[0].reads, SizeIs(1));
}

TEST_F(FusionTest, ComputesAnExpandedRowThatIsAlsoAResult) {
  const auto x = input({4, 300});
  const auto row = add(ir::Expand{{4, 300}}, {add(ir::Reduce{ReduceFn::sum, {1}}, {x})});
  const auto y = add(PointwiseFn::sub, {x, row});
  const auto program = program_.finish({row, y});
  TestDevice device{*backends::open_cpu_backend()};
  reference::Tensor data({DType::f32, {4, 300}});
  for (std::size_t i = 0; i < data.size(); ++i) data.set(i, static_cast<double>(i % 7));
  const std::array inputs{data};
  const auto actual = *run_program(device, program, inputs);
  const auto expected = reference::evaluate(program, inputs);
  EXPECT_EQ(first_difference(actual[0], expected[0]), "");
  EXPECT_EQ(first_difference(actual[1], expected[1]), "");
}

TEST_F(FusionTest, NamesTheOpAndTheLineOfABadIndex) {
  const auto x = input({4, 300}), target = input({4, 1}, DType::i64);
  const auto program = program_.finish({add(ir::Gather{1}, {softmax(x), target})});
  TestDevice device{*backends::open_cpu_backend()};
  reference::Tensor index({DType::i64, {4, 1}});
  index.set(2, std::int64_t{300});
  const std::array inputs{reference::Tensor({DType::f32, {4, 300}}), index};
  const auto result = run_program(device, program, inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::out_of_range);
  EXPECT_EQ(result.status().message(), "gather: index 300 is outside 0..299 (at model.cc:7)");
}

// Sets a variable as long as it lives. Tests run one after the other.
class With {
 public:
  explicit With(const char* name, const char* value = "off") : name_(name) { setenv(name, value, 1); }
  ~With() { unsetenv(name_); }

 private:
  const char* name_;
};

class RandomFusionTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomFusionTest, ComputesWhatSingleKernelsCompute) {
  TestDevice device{*backends::open_cpu_backend()};
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto seed = GetParam() * 50 + i;
    const auto [program, inputs] = random_program(seed);
    const With streaming("BURN_STREAM_BYTES", i % 2 == 0 ? "0" : "1000000");  // past the caches, or not
    const auto fused = run_program(device, program, inputs);
    const With fusion("BURN_FUSION"), cse("BURN_CSE");
    const auto single = run_program(device, program, inputs);
    ASSERT_TRUE(fused.ok() && single.ok()) << to_string(program);
    for (std::size_t k = 0; k < fused->size(); ++k) {
      ASSERT_EQ(first_difference((*fused)[k], (*single)[k], 20, 4), "")
          << "seed " << seed << ", output " << k << "\n"
          << to_string(program)
          << to_string(compile::make_plan(compile::simplify(program, true)), compile::simplify(program, true));
    }
  }
}

// A plan whose groups depend on each other in a circle ends the process.
TEST_P(RandomFusionTest, FindsAnOrderForGroupsThatTakeInTheirSources) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    const auto random = random_program(GetParam() * 50 + i);
    const auto program = compile::simplify(random.program, true);
    compile::PlanOptions options;
    options.limits.absorbs_producers = true;
    options.limits.min_summed_rows = 2;
    const auto plan = compile::make_plan(program, options);
    std::vector<int> times(program.nodes.size());
    for (const auto& group : plan.groups) {
      for (const auto& member : group.members) ++times[static_cast<std::size_t>(member.node)];
    }
    EXPECT_LE(*std::ranges::max_element(times), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFusionTest, ::testing::Range(0u, 20u));

}  // namespace
}  // namespace burn::testing
