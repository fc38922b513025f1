// Reductions and rows that threads of a GPU share, and copies: run by the interpreter, which finds races and barriers
// that not all threads reach.
#include <algorithm>
#include <utility>

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

compile::DeviceFacts gpu_of(int multiprocessors, int subgroup) {
  return {.multiprocessors = multiprocessors,
          .shared_bytes = 65536,
          .shared_bytes_per_block = 49152,
          .subgroup_size = subgroup};
}

void check(const ir::Program& program, const std::vector<reference::Tensor>& inputs, const compile::DeviceFacts& facts,
           bool fusion) {
  SCOPED_TRACE(ir::to_string(program));
  try {
    const auto run = run_interpreted(program, inputs, {}, facts, fusion, ThreadOrder::shuffled);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    const auto expected = reference::evaluate(program, inputs, {});
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(run->outputs[k].bits, expected[k].bits);
    for (const auto& kernel : run->kernels) {
      if (has_spirv_val()) {
        EXPECT_EQ(validate(*kernel, facts), "");
      }
    }
  } catch (const std::runtime_error& undefined) {
    FAIL() << undefined.what();
  }
}

void check_reduction(DType dtype, const ir::Shape& shape, const ir::Dims& axes, bool is_turned, int multiprocessors) {
  const auto input = small_numbers(dtype, shape);
  ir::ProgramBuilder builder;
  auto value = builder.add_input(input.type);
  if (is_turned) value = value_or_throw(builder.add(ir::Permute{{1, 0}}, std::vector{value}, {"test.cc", 1}));
  ir::Reduce reduce;
  reduce.fn = ir::ReduceFn::sum;
  reduce.axes = axes;
  const auto sum = value_or_throw(builder.add(reduce, std::vector{value}, {"test.cc", 2}));
  check(builder.finish({sum}), {input}, gpu_of(multiprocessors, 32), false);
}

TEST(BlockReductions, OfColumnsAreExact) {
  check_reduction(DType::f32, {300, 136}, {0}, false, 4);  // in parts, four at a time
  check_reduction(DType::f32, {100, 37}, {0}, false, 1);   // odd: one at a time
  check_reduction(DType::bf16, {77, 264}, {0}, false, 1);  // eight at a time
  check_reduction(DType::f64, {300, 34}, {0}, false, 2);
  check_reduction(DType::f32, {40, 600}, {1}, true, 4);  // of a transposed view
}

TEST(BlockReductions, OfLinesAreExact) {
  check_reduction(DType::f32, {5, 3000}, {1}, false, 4);
  check_reduction(DType::f32, {3, 1001}, {1}, false, 1);
  check_reduction(DType::f32, {70, 50}, {1}, false, 1);
  check_reduction(DType::f32, {90, 110}, {0, 1}, false, 8);  // of everything
  check_reduction(DType::i64, {3, 700}, {1}, false, 2);
}

// x * the sum of its row, and a row's sum: what is read twice stays in registers.
void check_rows(DType dtype, std::int64_t rows, std::int64_t size, int subgroup) {
  const auto input = small_numbers(dtype, {rows, size});
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(input.type);
  ir::Reduce reduce;
  reduce.fn = ir::ReduceFn::sum;
  reduce.axes = {1};
  const auto sum = value_or_throw(builder.add(reduce, std::vector{x}, {"test.cc", 1}));
  const auto wide = value_or_throw(builder.add(ir::Expand{{rows, size}}, std::vector{sum}, {"test.cc", 2}));
  const auto product =
      value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, std::vector{x, wide}, {"test.cc", 3}));
  check(builder.finish({product, sum}), {input}, gpu_of(4, subgroup), true);
}

TEST(BlockRows, AreExact) {
  for (const int subgroup : {8, 32}) {
    check_rows(DType::f32, 9, 128, subgroup);   // a subgroup for each row, whole
    check_rows(DType::f32, 6, 300, subgroup);   // vectors that end before the threads do
    check_rows(DType::f32, 3, 4096, subgroup);  // a block for each row
    check_rows(DType::f32, 3, 1023, subgroup);  // rows that are not aligned
    check_rows(DType::bf16, 2, 1536, subgroup);
    check_rows(DType::f32, 1, 40000, subgroup);  // more than registers hold
  }
}

// A view that is the result is copied: elements side by side, each alone, one for all, and with a rest.
void check_copy(const ir::Op& view, const ir::Shape& shape) {
  const auto input = small_numbers(DType::f32, shape);
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(input.type);
  check(builder.finish({value_or_throw(builder.add(view, std::vector{x}, {"test.cc", 1}))}), {input}, gpu_of(4, 32),
        true);
}

TEST(Copies, TakeSeveralElementsWhereTheyLieSideBySide) {
  check_copy(ir::Expand{{8}}, {1});
  check_copy(ir::Expand{{6, 8}}, {6, 1});
  check_copy(ir::Expand{{6, 8}}, {1, 8});
  check_copy(ir::Permute{{1, 0}}, {12, 8});
  check_copy(ir::Slice{{0, 4}, {5, 12}, {1, 1}}, {5, 16});
  check_copy(ir::Slice{{3}, {19}, {1}}, {23});
}

// What timing on a device may choose: other numbers of blocks, and of accesses that a thread has under way.
TEST(BlockReductions, AreExactByEverySpreadThatMayBeTimed) {
  for (const auto& [shape, axis] : {std::pair{ir::Shape{1030, 512}, 0}, std::pair{ir::Shape{9, 58300}, 1}}) {
    const std::vector inputs{small_numbers(DType::f64, shape)};
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(inputs[0].type);
    const auto program = builder.finish(
        {value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {axis}}, std::vector{x}, {"test.cc", 1}))});
    const auto expected = reference::evaluate(program, inputs, {});
    for (std::size_t way = 0; way < 4; ++way) {
      const auto run =
          value_or_throw(run_interpreted(program, inputs, {}, gpu_of(3, 32), true, ThreadOrder::shuffled, way));
      EXPECT_EQ(run.alternatives.size(), 4u);
      EXPECT_EQ(run.outputs[0].bits, expected[0].bits) << "alternative " << way << " of " << ir::to_string(program);
    }
  }
}

// No kernel counts more than 2^31 elements in 32 bits, whatever it does with them: each has a number of 64 bits.
TEST(LargeTensors, AreCountedIn64Bits) {
  const ir::Shape large{(std::int64_t{1} << 16) + 8, std::int64_t{1} << 16}, row{1, large[1]}, column{large[0], 1};
  const auto check_one = [&](const ir::Op& op, const std::vector<ir::Shape>& operands) {
    ir::ProgramBuilder builder;
    std::vector<ir::Ref> inputs;
    for (const auto& shape : operands) inputs.push_back(builder.add_input({DType::f32, shape}));
    const auto program = builder.finish({value_or_throw(builder.add(op, inputs, {"test.cc", 1}))});
    SCOPED_TRACE(ir::to_string(program));
    for (const bool is_cpu : {false, true}) {
      auto facts = gpu_of(132, 32);
      facts.has_slow_barriers = facts.has_limited_loops = is_cpu;
      const auto kernels = value_or_throw(kernels_of(program, facts));
      ASSERT_FALSE(kernels.empty());
      const auto is_wide = [](const compile::kernel::Parameter& one) {
        return !one.is_address && one.type == DType::i64;
      };
      EXPECT_TRUE(std::ranges::any_of(kernels[0]->parameters, is_wide)) << text(*kernels[0]);
    }
  };
  check_one(ir::Pointwise{ir::PointwiseFn::exp}, {large});
  check_one(ir::Permute{{1, 0}}, {large});
  check_one(ir::Reduce{ir::ReduceFn::sum, {1}}, {large});
  check_one(ir::Reduce{ir::ReduceFn::sum, {0}}, {large});
  check_one(ir::Scan{ir::ReduceFn::sum, 1}, {large});
  check_one(ir::MatMul{}, {column, row});
  check_one(ir::MatMul{}, {large, {large[1], 4}});
  check_one(ir::ArgReduce{ir::ArgFn::max, 1}, {large});
}

}  // namespace
}  // namespace burn::testing
