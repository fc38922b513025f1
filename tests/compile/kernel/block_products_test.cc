// Products whose tiles a block computes together, as GPUs do: run by the interpreter, which finds races and barriers
// that not all threads reach, for each size of tile and with the depth in parts.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/op.h"
#include "tests/compile/kernel/exact_numbers.h"
#include "tests/compile/kernel/interpreted_device.h"
#include "tests/compile/kernel/spirv_validator.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

using ir::DType;

struct Case {
  const char* what;
  std::int64_t rows, columns, depth, batch;
  int multiprocessors;
  std::size_t launches;
};

void check(const Case& of, DType dtype, bool first_turned, bool second_turned, ThreadOrder order) {
  const auto turned = [&](bool is_turned, std::int64_t rows, std::int64_t columns) {
    return is_turned ? ir::Shape{of.batch, columns, rows} : ir::Shape{of.batch, rows, columns};
  };
  const std::vector<reference::Tensor> inputs{small_numbers(dtype, turned(first_turned, of.rows, of.depth)),
                                              small_numbers(dtype, turned(second_turned, of.depth, of.columns))};
  ir::ProgramBuilder builder;
  const auto operand = [&](const reference::Tensor& input, bool is_turned) {
    auto value = builder.add_input(input.type);
    if (is_turned) value = value_or_throw(builder.add(ir::Permute{{0, 2, 1}}, std::vector{value}, {"test.cc", 1}));
    return value;
  };
  const auto a = operand(inputs[0], first_turned), b = operand(inputs[1], second_turned);
  const auto c = value_or_throw(builder.add(ir::MatMul{}, std::vector{a, b}, {"test.cc", 2}));
  const auto program = builder.finish({c});
  SCOPED_TRACE(of.what + std::string("\n") + ir::to_string(program));
  try {
    const auto run = run_interpreted(program, inputs, {}, gpu_with_tiles(of.multiprocessors), true, order);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_EQ(run->kernels.size(), of.launches);
    const auto expected = reference::evaluate(program, inputs, {});
    EXPECT_EQ(run->outputs[0].bits, expected[0].bits);
    for (const auto& kernel : run->kernels) {
      EXPECT_FALSE(kernel->shared.empty() && of.launches == 1) << "no tile of a block";
      if (has_spirv_val()) {
        EXPECT_EQ(validate(*kernel, gpu_with_tiles(of.multiprocessors)), "");
      }
    }
  } catch (const std::runtime_error& undefined) {
    FAIL() << undefined.what();
  }
}

// Tiles of matrices that a subgroup multiplies: the block's tiles of each size, factors that lie along the depth or
// across it, edges, batches, and the depth in parts.
TEST(TileProducts, AreExact) {
  for (const auto dtype : {DType::f16, DType::bf16}) {
    for (const bool first_turned : {false, true}) {
      for (const bool second_turned : {false, true}) {
        check({"tiles of 128", 136, 120, 72, 1, 1, 1}, dtype, first_turned, second_turned, ThreadOrder::shuffled);
        check({"tiles of 64", 72, 40, 24, 3, 5, 1}, dtype, first_turned, second_turned, ThreadOrder::forward);
      }
    }
    check({"the depth in parts", 48, 64, 264, 1, 8, 2}, dtype, false, true, ThreadOrder::backward);
    check({"rows that are not aligned", 50, 35, 33, 1, 1, 1}, dtype, false, false, ThreadOrder::forward);
  }
}

constexpr Case kLarge{"tiles of 128", 130, 90, 20, 1, 1, 1}, kMiddle{"tiles of 64", 70, 90, 33, 2, 6, 1},
    kWide{"tiles of 64 x 128", 70, 90, 33, 2, 4, 1}, kSmall{"tiles of 32", 40, 33, 17, 3, 12, 1},
    kParts{"the depth in two parts", 40, 33, 1100, 1, 8, 2}, kSlices{"slices of the depth", 40, 33, 300, 1, 8, 1};

TEST(BlockProducts, AreExactForEachTile) {
  check(kLarge, DType::f32, false, false, ThreadOrder::forward);
  check(kMiddle, DType::f32, false, false, ThreadOrder::backward);
  check(kWide, DType::f32, false, true, ThreadOrder::backward);
  check(kSmall, DType::f32, false, false, ThreadOrder::shuffled);
  check(kParts, DType::f32, false, false, ThreadOrder::shuffled);
  check(kSlices, DType::f32, false, false, ThreadOrder::shuffled);
}

TEST(BlockProducts, AreExactForTransposedFactors) {
  check(kLarge, DType::f32, true, true, ThreadOrder::shuffled);
  check(kMiddle, DType::f32, true, false, ThreadOrder::forward);
  check(kMiddle, DType::f32, false, true, ThreadOrder::shuffled);
  check(kParts, DType::f32, true, true, ThreadOrder::backward);
  check(kSlices, DType::f32, true, true, ThreadOrder::backward);
  check(kSlices, DType::f32, false, true, ThreadOrder::forward);
}

TEST(BlockProducts, AreExactForFewRowsAndColumns) {
  check({"one row", 1, 90, 100, 2, 4, 1}, DType::f32, false, false, ThreadOrder::forward);
  check({"one column", 65, 1, 20, 1, 1, 1}, DType::f32, false, true, ThreadOrder::shuffled);
  check({"one of each", 3, 5, 1, 4, 1, 1}, DType::f32, true, false, ThreadOrder::backward);
}

TEST(BlockProducts, AreExactForOtherTypes) {
  for (const auto dtype : {DType::f16, DType::bf16, DType::f64, DType::i8, DType::i32, DType::u64}) {
    check(kMiddle, dtype, false, false, ThreadOrder::forward);
    check(kParts, dtype, false, true, ThreadOrder::forward);
    if (ir::size_of(ir::compute_dtype(dtype)) <= 4) check(kSlices, dtype, false, true, ThreadOrder::forward);
  }
}

// The names of the tiles that the product may be computed by; all of them give the exact result.
std::set<std::string> check_alternatives(DType dtype, const ir::Shape& first, const ir::Shape& second, bool is_turned,
                                         int multiprocessors) {
  const std::vector<reference::Tensor> inputs{small_numbers(dtype, first), small_numbers(dtype, second)};
  ir::ProgramBuilder builder;
  const auto a = builder.add_input(inputs[0].type);
  auto b = builder.add_input(inputs[1].type);
  if (is_turned) b = value_or_throw(builder.add(ir::Permute{{1, 0}}, std::vector{b}, {"test.cc", 1}));
  const auto program = builder.finish({value_or_throw(builder.add(ir::MatMul{}, std::vector{a, b}, {"test.cc", 2}))});
  const auto expected = reference::evaluate(program, inputs, {});
  std::set<std::string> names;
  std::size_t count = 1;
  for (std::size_t k = 0; k < count; ++k) {
    SCOPED_TRACE("alternative " + std::to_string(k) + " of\n" + ir::to_string(program));
    const auto run = value_or_throw(
        run_interpreted(program, inputs, {}, gpu_with_tiles(multiprocessors), true, ThreadOrder::shuffled, k));
    EXPECT_EQ(run.outputs[0].bits, expected[0].bits);
    count = run.alternatives.size();
    names.insert(run.alternatives.begin(), run.alternatives.end());
    for (const auto& kernel : run.kernels) {
      if (has_spirv_val()) {
        EXPECT_EQ(validate(*kernel, gpu_with_tiles(multiprocessors)), "");
      }
    }
  }
  return names;
}

// What timing on a device may choose: larger tiles than are taken untimed, more of the result for each thread, slices.
TEST(BlockProducts, AreExactByEveryTileThatMayBeTimed) {
  std::set<std::string> names;
  for (const bool is_turned : {false, true}) {
    const auto second = [&](std::int64_t depth, std::int64_t columns) {
      return is_turned ? ir::Shape{columns, depth} : ir::Shape{depth, columns};
    };
    names.merge(check_alternatives(DType::f32, {130, 20}, second(20, 90), is_turned, 1));
    names.merge(check_alternatives(DType::f32, {40, 70}, second(70, 33), is_turned, 12));
    names.merge(check_alternatives(DType::bf16, {120, 40}, second(40, 248), is_turned, 1));
    names.merge(check_alternatives(DType::bf16, {248, 40}, second(40, 120), is_turned, 1));
    names.merge(check_alternatives(DType::f16, {72, 72}, second(72, 56), is_turned, 4));
  }
  const std::set<std::string> all{"128x128x16 by 8x8",          "256x128x8 by 16x8",  "32x32x64 by 4x2",
                                  "64x128x16 by 8x8",           "64x64x16 by 8x8",    "64x64x32 by 4x4",
                                  "128x128x32 by 8x16",         "256x128x32 by 8x16", "128x256x32 by 8x16",
                                  "64x128x64 by 2x16",          "64x64x32 by 2x16",   "64x64x64 by 2x16",
                                  "16x16x64 by 4x1 in 4 slices"};
  EXPECT_EQ(names, all);
}

// Convolutions and their gradients in two groups, with strides, padding and dilation.
template <typename Op>
void check_convolution(const Op& op, const ir::Shape& first, const ir::Shape& second, int multiprocessors,
                       std::size_t most_ways) {
  const std::vector<reference::Tensor> inputs{small_numbers(DType::f32, first), small_numbers(DType::f32, second)};
  ir::ProgramBuilder builder;
  const auto a = builder.add_input(inputs[0].type), b = builder.add_input(inputs[1].type);
  const auto program = builder.finish({value_or_throw(builder.add(op, std::vector{a, b}, {"test.cc", 1}))});
  SCOPED_TRACE(to_string(ir::Op{op}));
  const auto expected = reference::evaluate(program, inputs, {});
  try {
    // What is taken untimed, and what it may be timed against.
    for (std::size_t way = 0, ways = 1; way < ways; ++way) {
      const auto run =
          run_interpreted(program, inputs, {}, gpu_with_tiles(multiprocessors), true, ThreadOrder::shuffled, way);
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      ways = std::min(run->alternatives.size(), most_ways);
      EXPECT_FALSE(run->kernels[0]->shared.empty()) << "no tile of a block";
      EXPECT_EQ(run->outputs[0].bits, expected[0].bits) << "alternative " << way;
      for (const auto& kernel : run->kernels) {
        if (has_spirv_val()) {
          EXPECT_EQ(validate(*kernel, gpu_with_tiles(multiprocessors)), "");
        }
      }
    }
  } catch (const std::runtime_error& undefined) {
    FAIL() << undefined.what();
  }
}

// A convolution and both its gradients.
void check_all(const ir::Conv& conv, const ir::Shape& input, const ir::Shape& weight, std::size_t most_ways = 1) {
  const ir::TensorType types[] = {{DType::f32, input}, {DType::f32, weight}};
  const ir::TensorType* operands[] = {&types[0], &types[1]};
  const ir::Shape output = (*ir::infer(conv, operands))[0].shape;
  const ir::ConvInputGrad to_input{conv.stride,   conv.pad_begin,       conv.pad_end,
                                   conv.dilation, {input[2], input[3]}, conv.groups};
  const ir::ConvWeightGrad to_weight{conv.stride,   conv.pad_begin,         conv.pad_end,
                                     conv.dilation, {weight[2], weight[3]}, conv.groups};
  for (const int multiprocessors : {1, 4}) {
    check_convolution(conv, input, weight, multiprocessors, most_ways);
    check_convolution(to_input, output, weight, multiprocessors, most_ways);
    check_convolution(to_weight, input, output, multiprocessors, most_ways);
  }
}

// Channels that no chunk divides, and windows of one element, are computed as products.
TEST(BlockProducts, AreExactForConvolutions) {
  check_all({{2, 1}, {1, 0}, {1, 1}, {1, 2}, 2}, {2, 46, 9, 8}, {38, 23, 3, 2}, 4);
  check_all({{1, 2}, {0, 1}, {1, 0}, {1, 1}, 1}, {2, 24, 7, 8}, {20, 24, 1, 1}, 4);
}

// Chunks of channels, rows that fill no tile, and more places than threads; planes smaller than a block, and few
// images.
TEST(DirectConvolutions, AreExact) {
  check_all({{2, 1}, {1, 0}, {1, 1}, {1, 2}, 2}, {2, 40, 9, 8}, {36, 20, 3, 2});
  check_all({{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1}, {5, 3, 13, 14}, {10, 3, 3, 3});
  check_all({{1, 2}, {0, 2}, {2, 1}, {2, 1}, 3}, {9, 6, 6, 7}, {9, 2, 2, 4});
  check_all({{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1}, {3, 8, 26, 26}, {16, 8, 3, 3});
}

// The catalogue's products are small: on a device with one multiprocessor all that can be are computed in blocks.
TEST(BlockProducts, AreWhatTheReferenceSays) {
  const auto all = samples("matmul");
  for (std::size_t n = 0; n < all.size(); n += 2) {
    const auto& sample = all[n];
    SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
    try {
      const auto run = run_interpreted(sample.program, sample.inputs, sample.bindings, gpu_with_tiles(1));
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(first_difference(run->outputs[i], expected[i], sample.slack, sample.cancelled), "") << "output " << i;
    } catch (const std::runtime_error& undefined) {
      FAIL() << undefined.what();
    }
  }
}

}  // namespace
}  // namespace burn::testing
