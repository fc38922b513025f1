// How exactly kernels of groups compute, in how many bits, and what they need not read.
#include <initializer_list>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/driver/nvrtc.h"
#include "tests/backends/cuda/lowered.h"

namespace burn::testing {
namespace {

// A softmax divides a row by one number, and a chain a tensor.
TEST(CudaLaunches, DivideByTheSameNumberWithItsReciprocal) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const ir::Shape shape{64, 100};
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return *builder.add(op, std::span(operands.begin(), operands.size()));
  };
  const auto x = builder.add_input({ir::DType::f32, shape}), n = builder.add_input({ir::DType::f32, {1, 1}});
  const auto sum = add(ir::Expand{shape}, {add(ir::Reduce{ir::ReduceFn::sum, ir::Dims{1}}, {x})});
  const auto quotient = add(ir::Pointwise{ir::PointwiseFn::div}, {x, sum});
  const auto program =
      builder.finish({add(ir::Pointwise{ir::PointwiseFn::div}, {quotient, add(ir::Expand{shape}, {n})})});
  const auto lowered = lower(*device, program, true);
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  ASSERT_EQ(lowered->sources.size(), 1u);
  const auto& text = lowered->sources[0].text;
  std::size_t count = 0;
  for (auto at = text.find(".divide("); at != std::string::npos; at = text.find(".divide(", at + 1)) ++count;
  EXPECT_EQ(count, 2u) << text;
  EXPECT_EQ(text.find("row_div"), std::string::npos) << text;
}

TEST(CudaLaunches, ComputeCoarselyOnlyWhatIsRounded) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const auto kernel_of = [&](ir::DType written, bool also_exact) {
    ir::ProgramBuilder builder;
    const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
      return *builder.add(op, std::span(from.begin(), from.size()));
    };
    const auto x = builder.add_input({ir::DType::f32, {64, 100}});
    const auto y = add(ir::Pointwise{ir::PointwiseFn::tanh}, {add(ir::Pointwise{ir::PointwiseFn::mul}, {x, x})});
    const auto rounded = add(ir::Cast{written}, {y});
    return *lower(*device, builder.finish(also_exact ? std::vector{rounded, y} : std::vector{rounded}), true);
  };
  EXPECT_TRUE(has(kernel_of(ir::DType::bf16, false), "coarse::tanh"));
  EXPECT_TRUE(has(kernel_of(ir::DType::f16, false), "coarse::tanh"));
  EXPECT_FALSE(has(kernel_of(ir::DType::bf16, true), "coarse::tanh"));
  EXPECT_FALSE(has(kernel_of(ir::DType::f64, false), "coarse::tanh"));
}

// GELU adds 1 to a tanh: what that is near 0 is lost in any case.
TEST(CudaLaunches, ComputeATanhBesideOneWithoutItsSeries) {
  const auto device = cuda::Device::for_compiling("sm_90");
  for (const double number : {1.0, 0.001}) {
    ir::ProgramBuilder builder;
    const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
      return *builder.add(op, std::span(from.begin(), from.size()));
    };
    const auto x = builder.add_input({ir::DType::f32, {64, 100}});
    const auto y = add(ir::Pointwise{ir::PointwiseFn::tanh}, {x});
    const auto one = add(ir::Expand{{64, 100}}, {add(ir::Constant{ir::DType::f32, 0, number}, {})});
    const auto slope =
        add(ir::Pointwise{ir::PointwiseFn::sub}, {one, add(ir::Pointwise{ir::PointwiseFn::mul}, {y, y})});
    const auto z =
        add(ir::Pointwise{ir::PointwiseFn::mul}, {add(ir::Pointwise{ir::PointwiseFn::add}, {y, one}), slope});
    const auto lowered = *lower(*device, builder.finish({add(ir::Cast{ir::DType::bf16}, {z})}), true);
    EXPECT_EQ(has(lowered, "coarse::tanh_beside_one("), number == 1.0);
    EXPECT_TRUE(cuda::compile_kernel(lowered.sources[0].text, "sm_90").ok());
  }
}

// The loss and the gradient of wide rows: exponentials that are added up, and that are rounded.
TEST(CudaLaunches, KeepWideRowsInSharedMemoryAndCountPositions) {
  const auto device = cuda::Device::for_compiling("sm_90");
  for (const std::int64_t columns : {50'304, 200'000}) {
    ir::ProgramBuilder builder;
    const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
      return *builder.add(op, std::span(from.begin(), from.size()));
    };
    const auto function = [&](ir::PointwiseFn fn, std::initializer_list<ir::Ref> from) {
      return add(ir::Pointwise{fn}, from);
    };
    const ir::Shape shape{64, columns};
    const auto logits = builder.add_input({ir::DType::bf16, shape}),
               target = builder.add_input({ir::DType::f32, {64, 1}});
    const auto x = add(ir::Cast{ir::DType::f32}, {logits});
    const auto largest = add(ir::Expand{shape}, {add(ir::Reduce{ir::ReduceFn::max, {1}}, {x})});
    const auto e = function(ir::PointwiseFn::exp, {function(ir::PointwiseFn::sub, {x, largest})});
    const auto sum = add(ir::Reduce{ir::ReduceFn::sum, {1}}, {e});
    const auto positions = add(ir::Reshape{{1, columns}}, {add(ir::Iota{ir::DType::f32, columns}, {})});
    const auto is_target =
        function(ir::PointwiseFn::equal, {add(ir::Expand{shape}, {positions}), add(ir::Expand{shape}, {target})});
    const auto p = function(ir::PointwiseFn::div, {e, add(ir::Expand{shape}, {sum})});
    const auto grad = function(ir::PointwiseFn::select, {is_target, function(ir::PointwiseFn::neg, {p}), p});
    const auto program = builder.finish({sum, add(ir::Cast{ir::DType::bf16}, {grad})});
    compile::PlanOptions options;
    options.limits.max_row_size = 1 << 18;
    const auto simple = compile::simplify(program, true);
    const auto lowered = cuda::lower_program(*device, simple, compile::make_plan(simple, options));
    ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
    ASSERT_EQ(lowered->commands.size(), 1u);
    const bool fits = columns < 100'000;
    EXPECT_EQ(has(*lowered, "extern __shared__"), fits);
    EXPECT_EQ(std::get<cuda::Launch>(lowered->commands[0].what).grid.shared_bytes, fits ? 2 * columns : 0);
    EXPECT_TRUE(has(*lowered, "coarse::exp") && !has(*lowered, "row_exp<float>"));
    const auto code = cuda::compile_kernel(lowered->sources[0].text, "sm_90");
    EXPECT_TRUE(code.ok()) << code.status().to_string();
  }
}

// The terms are at most 1 if it is the row's own largest number that is taken away, and they are only added up.
TEST(CudaLaunches, AddUpCoarselyOnlyExponentialsBelowTheirRow) {
  const auto device = cuda::Device::for_compiling("sm_90");
  enum class What { shifted, written, of_others, as_it_is };
  for (const auto what : {What::shifted, What::written, What::of_others, What::as_it_is}) {
    ir::ProgramBuilder builder;
    const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
      return *builder.add(op, std::span(from.begin(), from.size()));
    };
    const ir::Shape shape{64, 100};
    const auto x = builder.add_input({ir::DType::f32, shape}), y = builder.add_input({ir::DType::f32, shape});
    const auto largest = add(ir::Reduce{ir::ReduceFn::max, {1}}, {what == What::of_others ? y : x});
    const auto shifted = add(ir::Pointwise{ir::PointwiseFn::sub}, {x, add(ir::Expand{shape}, {largest})});
    const auto e = add(ir::Pointwise{ir::PointwiseFn::exp}, {what == What::as_it_is ? x : shifted});
    std::vector<ir::Ref> results{add(ir::Reduce{ir::ReduceFn::sum, {1}}, {e}), largest};
    if (what == What::written) results.push_back(e);
    const auto lowered = *lower(*device, builder.finish(results), true);
    EXPECT_EQ(has(lowered, "coarse::exp"), what == What::shifted) << static_cast<int>(what);
    EXPECT_EQ(has(lowered, "row_exp<float>"), what != What::shifted) << static_cast<int>(what);
  }
}

TEST(CudaLaunches, RoundResultsThatNobodyReadsWhereTheyAreWritten) {
  const auto device = cuda::Device::for_compiling("sm_90");
  for (const bool is_read : {false, true}) {
    ir::ProgramBuilder builder;
    const auto x = builder.add_input({ir::DType::bf16, {64, 100}});
    const ir::Ref pair[] = {x, x};
    std::vector<ir::Ref> results{*builder.add(ir::Pointwise{ir::PointwiseFn::mul}, pair)};
    if (is_read) results.push_back(*builder.add(ir::Pointwise{ir::PointwiseFn::neg}, results));
    EXPECT_EQ(has(*lower(*device, builder.finish(results), true), "rounded<bfloat16_t>("), is_read);
  }
}

// Offsets of 31 bits are computed in 32; further away, and backwards, in 64.
TEST(CudaLaunches, ComputeOffsetsInAsManyBitsAsTheyNeed) {
  const auto device = cuda::Device::for_compiling("sm_90");
  for (const auto& [rows, is_flipped, is_narrow] :
       {std::tuple{1'000'000, false, true}, std::tuple{1'000'000, true, false}, std::tuple{3'000'000, false, false}}) {
    for (const bool is_summed : {false, true}) {
      const ir::Shape shape{rows, 1024};
      ir::ProgramBuilder builder;
      const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
        return *builder.add(op, std::span(from.begin(), from.size()));
      };
      auto x = builder.add_input({ir::DType::f32, shape});
      const auto y = builder.add_input({ir::DType::f32, {1, 1024}});
      if (is_flipped) x = add(ir::Slice{{rows - 1, 0}, {rows, 1024}, {-1, 1}}, {x});
      auto result = add(ir::Pointwise{ir::PointwiseFn::add}, {x, add(ir::Expand{shape}, {y})});
      if (is_summed) result = add(ir::Reduce{ir::ReduceFn::sum, {1}}, {result});
      const auto lowered = *lower(*device, builder.finish({result}), true);
      EXPECT_EQ(has(lowered, "::narrow_offsets_in<"), is_narrow) << rows << " " << is_flipped;
      EXPECT_EQ(has(lowered, "::offsets_in<"), !is_narrow) << rows << " " << is_flipped;
      EXPECT_TRUE(cuda::compile_kernel(lowered.sources[0].text, "sm_90").ok());
    }
  }
}

// The gradient of cross entropy looks the class up among the positions, so that one outside is found out.
TEST(CudaLaunches, CountPositionsThatAreInMemoryForSomethingElse) {
  const auto device = cuda::Device::for_compiling("sm_90");
  constexpr std::int64_t kColumns = 4096;
  const ir::Shape shape{64, kColumns};
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
    return *builder.add(op, std::span(from.begin(), from.size()));
  };
  const auto p = builder.add_input({ir::DType::bf16, shape}), index = builder.add_input({ir::DType::i64, {64}});
  const auto positions = add(ir::Iota{ir::DType::f32, kColumns}, {});
  const auto known = add(ir::Gather{0}, {positions, index});
  const auto is_there = add(ir::Pointwise{ir::PointwiseFn::equal},
                            {add(ir::Expand{shape}, {add(ir::Reshape{{1, kColumns}}, {positions})}),
                             add(ir::Expand{shape}, {add(ir::Reshape{{64, 1}}, {known})})});
  const auto program = builder.finish(
      {add(ir::Pointwise{ir::PointwiseFn::select}, {is_there, add(ir::Pointwise{ir::PointwiseFn::neg}, {p}), p})});
  const auto lowered = lower(*device, program, true);
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  const auto formula = std::ranges::find_if(
      lowered->sources, [](const auto& source) { return source.text.find("_equal<float>(") != std::string::npos; });
  ASSERT_NE(formula, lowered->sources.end());
  EXPECT_NE(formula->text.find("Pack<bfloat16_t, 8>"), std::string::npos) << formula->text;
  EXPECT_EQ(formula->text.find("Pack<float"), std::string::npos) << formula->text;
  const auto code = cuda::compile_kernel(formula->text, "sm_90");
  EXPECT_TRUE(code.ok()) << code.status().to_string();
}

}  // namespace
}  // namespace burn::testing
