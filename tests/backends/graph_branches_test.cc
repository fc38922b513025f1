// Programs that a GPU runs as graphs, with branches and without: the same bits, run after run.
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/random_program.h"
#include "tests/backends/test_device.h"
#include "tests/compile/training_step.h"

namespace burn::testing {
namespace {

// BURN_GRAPH_BRANCHES for streams that are opened while it lives.
class Branches {
 public:
  explicit Branches(const char* how) {
    ::setenv("BURN_GRAPH_BRANCHES", how, 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads it now
  }
  ~Branches() { ::unsetenv("BURN_GRAPH_BRANCHES"); }  // NOLINT(concurrency-mt-unsafe)
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;
};
constexpr const char* kWays[] = {"off", "on", "timed"};
constexpr int kRuns = 80;  // until a graph is made, and some more than it takes to choose among three ways

using Bytes = std::vector<std::byte>;

reference::Tensor numbers(const ir::TensorType& type, int salt) {
  reference::Tensor x(type);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto k = (static_cast<int>(i) * 37 + salt * 101) % 199 - 99;
    x.set(i, static_cast<double>(k) / 1000);
  }
  return x;
}

// All losses and what was learned.
std::vector<Bytes> train(TestDevice& device, const ir::Program& program) {
  const auto executable = value_or_throw(device.compile(program));
  std::vector<backends::BufferPtr> state;
  for (std::size_t i = 2; i < program.inputs.size(); ++i) {
    const bool is_moment = i >= 8;
    const auto& type = program.inputs[i].type;
    state.push_back(
        value_or_throw(device.upload(is_moment ? reference::Tensor(type) : numbers(type, static_cast<int>(i)))));
  }
  std::vector<backends::BufferPtr> losses;
  for (int run = 0; run < kRuns; ++run) {
    // Now and then the device is waited for, so that what is timed is known while there are runs to come.
    if (run % 8 == 7) value_or_throw(device.download(losses.back(), losses.back()->size()));
    backends::RunArgs args;
    for (std::size_t i = 0; i < 2; ++i)
      args.inputs.push_back(
          value_or_throw(device.upload(numbers(program.inputs[i].type, run % 5 + 10 * static_cast<int>(i)))));
    for (auto& buffer : state) args.inputs.push_back(std::move(buffer));
    auto result = value_or_throw(device.run(executable, std::move(args)));
    losses.push_back(std::move(result.outputs[0]));
    state.assign(std::make_move_iterator(result.outputs.begin() + 1), std::make_move_iterator(result.outputs.end()));
  }
  std::vector<Bytes> all;
  for (const auto* of : {&losses, &state}) {
    for (const auto& buffer : *of) {
      const auto bytes = value_or_throw(device.download(buffer, buffer->size()));
      all.emplace_back(bytes.span().begin(), bytes.span().end());
    }
  }
  return all;
}

// So few commands that they are timed without a graph, too: a weight that is updated in place by a batch that moves.
ir::Program small_step() {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size())));
  };
  const ir::TensorType rows{ir::DType::f32, {32, 64}};
  const auto x = builder.add_input(rows), target = builder.add_input({ir::DType::f32, {32, 48}});
  const auto weight = builder.add_input({ir::DType::f32, {64, 48}});
  builder.donate(weight.index());
  const auto rate = add(ir::Constant{.dtype = ir::DType::f32, .real = 0.01}, {});
  const auto away = add(ir::Pointwise{ir::PointwiseFn::sub}, {add(ir::MatMul{}, {x, weight}), target});
  const auto loss =
      add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {add(ir::Pointwise{ir::PointwiseFn::mul}, {away, away})});
  const auto gradient = add(ir::MatMul{}, {add(ir::Permute{{1, 0}}, {x}), away});
  const auto step = add(ir::Pointwise{ir::PointwiseFn::mul}, {gradient, add(ir::Expand{{64, 48}}, {rate})});
  return builder.finish({loss, add(ir::Pointwise{ir::PointwiseFn::sub}, {weight, step})});
}

class GraphBranches : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      TestDevice device("cuda:0");
    } catch (const Error& why) {
      const bool is_absent = why.code() == StatusCode::not_found || why.code() == StatusCode::failed_precondition;
      ASSERT_TRUE(is_absent) << why.what();
      GTEST_SKIP() << why.what();
    }
  }
};

void expect_to_learn_the_same(const ir::Program& program) {
  std::vector<std::vector<Bytes>> learned;
  for (const auto* how : kWays) {
    const Branches set(how);
    TestDevice device("cuda:0");
    learned.push_back(train(device, program));
  }
  EXPECT_NE(learned[0].front(), learned[0][kRuns - 1]) << "nothing is learned";
  EXPECT_EQ(learned[1], learned[0]);
  EXPECT_EQ(learned[2], learned[0]);
}

TEST_F(GraphBranches, LearnTheSame) {
  expect_to_learn_the_same(TrainingStep({.batch = 32, .sizes = {96, 64, 64, 10}}).program());
}

TEST_F(GraphBranches, OfFewCommandsLearnTheSameWithoutAGraph) { expect_to_learn_the_same(small_step()); }

TEST_F(GraphBranches, ComputeTheSameInEveryRun) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const auto [program, inputs] = random_program(seed);
    std::vector<Bytes> expected;
    for (const auto* how : kWays) {
      SCOPED_TRACE(how);
      const Branches set(how);
      TestDevice device("cuda:0");
      const auto executable = value_or_throw(device.compile(program));
      std::vector<backends::BufferPtr> given;
      given.reserve(inputs.size());
      for (const auto& input : inputs) given.push_back(value_or_throw(device.upload(input)));
      for (int run = 0; run < kRuns; ++run) {
        const auto result = value_or_throw(device.run(executable, {.inputs = given, .seed = 3}));
        std::vector<Bytes> outputs;
        for (std::size_t k = 0; k < result.outputs.size(); ++k) {
          const auto bytes = device.download(result.outputs[k], program.type_of(program.outputs[k]).num_bytes());
          if (!bytes.ok()) continue;
          outputs.emplace_back(bytes->span().begin(), bytes->span().end());
        }
        if (expected.empty()) expected = outputs;
        ASSERT_EQ(outputs, expected) << "run " << run;
      }
    }
  }
}

}  // namespace
}  // namespace burn::testing
