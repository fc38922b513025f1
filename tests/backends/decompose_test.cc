// A device that lacks an op computes it all the same, out of others.
#include "compile/rewrite/decompose.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "compile/rewrite/simplify.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

// The CPU without one op.
class Lacking final : public backends::Backend {
 public:
  explicit Lacking(std::string op) : op_(std::move(op)), inner_(value_or_throw(backends::open_backend("cpu"))) {}

  std::string_view name() const override { return inner_->name(); }
  backends::Limits limits() const override { return inner_->limits(); }
  backends::MemoryStats memory() const override { return inner_->memory(); }
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    if (ir::name(op) == op_) return unimplemented("op \"" + op_ + "\" is not known to this device");
    return inner_->supports(op, operands);
  }
  Result<backends::HostBlockPtr> host_block(std::size_t bytes) override { return inner_->host_block(bytes); }
  Result<std::unique_ptr<backends::Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    const auto is_it = [&](const ir::Node& node) { return ir::name(node.op) == op_; };
    EXPECT_TRUE(std::ranges::none_of(program->nodes, is_it));
    return inner_->compile(std::move(program));
  }
  Result<std::unique_ptr<backends::Stream>> open_stream(backends::FailureSink sink) override {
    return inner_->open_stream(std::move(sink));
  }

 private:
  const std::string op_;
  const std::unique_ptr<backends::Backend> inner_;
};

class Decompose : public ::testing::TestWithParam<const char*> {};

TEST_P(Decompose, ComputesWhatTheOpDoes) {
  TestDevice device{std::make_shared<Lacking>(GetParam())};
  const auto all = samples(GetParam());
  ASSERT_FALSE(all.empty());
  for (const auto& sample : all) {
    SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
    const auto program = compile::decompose(std::make_shared<const ir::Program>(sample.program),
                                            backends::supports_of(device.backend()));
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    EXPECT_EQ((*program)->outputs.size(), sample.program.outputs.size());
    const auto actual = run_program(device, **program, sample.inputs, sample.bindings);
    ASSERT_TRUE(actual.ok()) << actual.status().to_string();
    const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(first_difference((*actual)[i], expected[i], sample.slack, sample.cancelled), "") << "output " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Decompose,
                         ::testing::Values("attention", "attention_grad", "avg_pool", "avg_pool_grad",
                                           "adaptive_avg_pool", "adaptive_avg_pool_grad", "det", "fft", "real_fft",
                                           "inverse_real_fft", "recip", "sigmoid", "sub", "is_nan", "not_equal",
                                           "greater", "greater_equal"),
                         [](const auto& info) { return std::string(info.param); });

TEST(DecomposedRecomputation, IsNotMergedWithItsOriginal) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({ir::DType::f32, {4}});
  const auto recip = [&](bool recompute) {
    return value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::recip}, {&x, 1}, {}, recompute));
  };
  const auto original = recip(false), again = recip(true);
  const auto program = std::make_shared<const ir::Program>(builder.finish({original, again}));
  const Lacking backend{"recip"};
  const auto decomposed = value_or_throw(compile::decompose(program, backends::supports_of(backend)));
  const auto simple = compile::simplify(*decomposed, true);
  EXPECT_EQ(std::ranges::count_if(simple.nodes, [](const auto& node) { return ir::name(node.op) == "div"; }), 2);
}

// y = f(x) with the scalar and the random number that come before and after.
ir::Program program_with(ir::PointwiseFn fn) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({ir::DType::f32, {3}});
  builder.donate(0);
  const auto add = [&](ir::PointwiseFn f, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(
        builder.add(ir::Pointwise{f}, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  };
  const auto scaled = add(ir::PointwiseFn::mul, {x, builder.add_scalar(ir::DType::f32)});
  const auto y = add(fn, {scaled});
  const auto noise = value_or_throw(builder.add_random({.shape = {3}}));
  return builder.finish({y, add(ir::PointwiseFn::add, {y, noise})});
}

TEST(DecomposePass, LeavesAloneWhatTheDeviceHas) {
  const Lacking device{"tan"};
  const auto program = std::make_shared<const ir::Program>(program_with(ir::PointwiseFn::sigmoid));
  EXPECT_EQ(value_or_throw(compile::decompose(program, backends::supports_of(device))), program);
}

TEST(DecomposePass, KeepsInputsSlotsAndTheRandomStream) {
  const Lacking device{"sigmoid"};
  const auto program = program_with(ir::PointwiseFn::sigmoid);
  const auto made =
      value_or_throw(compile::decompose(std::make_shared<const ir::Program>(program), backends::supports_of(device)));
  EXPECT_EQ(made->inputs.size(), 1u);
  EXPECT_TRUE(made->inputs[0].donated);
  EXPECT_EQ(made->scalar_count, program.scalar_count);
  EXPECT_EQ(made->random_blocks, program.random_blocks);
}

TEST(DecomposePass, NamesTheOpThatNothingElseIsMadeOfAndItsCallSite) {
  const Lacking device{"erf"};
  const auto made = compile::decompose(std::make_shared<const ir::Program>(program_with(ir::PointwiseFn::erf)),
                                       backends::supports_of(device));
  EXPECT_EQ(made.status(), unimplemented("op \"erf\" is not known to this device (at model.cc:41)"));
}

}  // namespace
}  // namespace burn::testing
