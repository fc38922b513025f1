// Products with the groups that read them, as one kernel: run by the interpreter, by each size of tile, with the depth
// in parts, and by threads alone.
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
using ir::PointwiseFn;
using ir::Ref;

// A device whose threads do not wait for each other.
const compile::DeviceFacts kThreadsAlone{.multiprocessors = 4, .has_slow_barriers = true};

struct Sizes {
  std::int64_t rows, columns, depth, batch = 1;
};

// Programs around a product of small whole numbers, whose sums are exact in every order.
class ProductGroups : public ::testing::Test {
 protected:
  Ref input(DType dtype, const ir::Shape& shape) {
    inputs_.push_back(small_numbers(dtype, shape, inputs_.size()));
    return builder_.add_input(inputs_.back().type);
  }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size()), {"test.cc", 1}));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref product(DType dtype, const Sizes& sizes) {
    const auto a = input(dtype, {sizes.batch, sizes.rows, sizes.depth});
    return add(ir::MatMul{}, {a, input(dtype, {sizes.batch, sizes.depth, sizes.columns})});
  }
  // One number for each column.
  Ref row(DType dtype, const ir::Shape& shape) {
    return add(ir::Expand{shape}, {add(ir::Reshape{{1, 1, shape[2]}}, {input(dtype, {shape[2]})})});
  }

  // Runs it by each alternative, and expects as many kernels.
  void check(const std::vector<Ref>& outputs, const compile::DeviceFacts& facts, std::size_t kernels) {
    const auto program = builder_.finish(outputs);
    SCOPED_TRACE(ir::to_string(program));
    const auto expected = reference::evaluate(program, inputs_, {});
    for (std::size_t way = 0, ways = 1; way < ways; ++way) {
      SCOPED_TRACE("alternative " + std::to_string(way));
      const auto run = value_or_throw(run_interpreted(program, inputs_, {}, facts, true, ThreadOrder::shuffled, way));
      ways = run.alternatives.size();
      if (way == 0) {
        EXPECT_EQ(run.kernels.size(), kernels);
      }
      for (std::size_t k = 0; k < outputs.size(); ++k) EXPECT_EQ(run.outputs[k].bits, expected[k].bits);
      for (const auto& kernel : run.kernels) {
        if (has_spirv_val()) {
          EXPECT_EQ(validate(*kernel, facts), "");
        }
      }
    }
    builder_ = ir::ProgramBuilder();
    inputs_.clear();
  }

  // relu(product + bias), of which both are stored.
  void check_bias_and_relu(DType dtype, const Sizes& sizes, const compile::DeviceFacts& facts, std::size_t kernels) {
    const auto sum =
        add(PointwiseFn::add, {product(dtype, sizes), row(dtype, {sizes.batch, sizes.rows, sizes.columns})});
    check({sum, add(PointwiseFn::relu, {sum})}, facts, kernels);
  }

  ir::ProgramBuilder builder_;
  std::vector<reference::Tensor> inputs_;
};

constexpr Sizes kLarge{130, 90, 20}, kMiddle{70, 92, 33, 2}, kSmall{40, 33, 17, 3}, kDeep{40, 33, 1100};

TEST_F(ProductGroups, AreComputedFromTheSumsOfEachTile) {
  for (const auto dtype : {DType::f32, DType::f64, DType::i32}) {
    check_bias_and_relu(dtype, kMiddle, gpu_with_tiles(6), 1);
    check_bias_and_relu(dtype, kSmall, gpu_with_tiles(12), 1);
  }
  check_bias_and_relu(DType::f32, kLarge, gpu_with_tiles(1), 1);
  check_bias_and_relu(DType::f32, {1, 90, 100}, gpu_with_tiles(4), 1);
}

TEST_F(ProductGroups, AreComputedFromMatrixTiles) {
  for (const auto dtype : {DType::f16, DType::bf16}) {
    check_bias_and_relu(dtype, {136, 120, 72}, gpu_with_tiles(1), 1);
    check_bias_and_relu(dtype, {72, 36, 24, 3}, gpu_with_tiles(5), 1);
  }
}

TEST_F(ProductGroups, AreComputedWherePartsOfTheDepthAreAdded) {
  check_bias_and_relu(DType::f32, kDeep, gpu_with_tiles(8), 2);
  check_bias_and_relu(DType::bf16, {48, 64, 264}, gpu_with_tiles(8), 2);
}

TEST_F(ProductGroups, AreComputedByThreadsAlone) {
  for (const auto dtype : {DType::f32, DType::bf16, DType::i64}) check_bias_and_relu(dtype, kSmall, kThreadsAlone, 1);
}

TEST_F(ProductGroups, ReadTheProductInAnotherShape) {
  const auto y = add(ir::Reshape{{2, 4, 5, 32}}, {product(DType::f32, {40, 32, 17})});
  const auto other = add(ir::Permute{{0, 2, 1, 3}}, {input(DType::f32, {2, 5, 4, 32})});
  check({add(PointwiseFn::mul, {y, other})}, gpu_with_tiles(4), 1);
}

TEST_F(ProductGroups, ReadAnOperandThatIsTurned) {
  const Sizes sizes{40, 32, 17};
  const auto turned = add(ir::Permute{{0, 2, 1}}, {input(DType::f32, {1, 32, 40})});
  check({add(PointwiseFn::sub, {turned, product(DType::f32, sizes)})}, gpu_with_tiles(4), 1);
}

TEST_F(ProductGroups, MakeOtherTypes) {
  const auto y = product(DType::f32, {40, 32, 17});
  const auto zero = add(ir::Expand{{1, 40, 32}}, {add(ir::Reshape{{1, 1, 1}}, {add(ir::Constant{DType::f32}, {})})});
  check({add(PointwiseFn::greater, {y, zero})}, gpu_with_tiles(4), 1);
  const auto z = product(DType::bf16, {40, 48, 24});
  check({add(ir::Cast{DType::f32}, {z})}, gpu_with_tiles(4), 1);
  check({add(ir::Cast{DType::i64}, {product(DType::f16, {40, 48, 24})})}, gpu_with_tiles(4), 1);
}

// The sum is rounded to the product's type before the group reads it.
TEST_F(ProductGroups, ReadWhatTheProductWouldHaveStored) {
  const auto a = input(DType::bf16, {64, 320}), b = input(DType::bf16, {320, 48});
  const auto squares = add(ir::MatMul{}, {add(PointwiseFn::mul, {a, a}), b});
  check({add(ir::Cast{DType::f32}, {squares})}, gpu_with_tiles(4), 3);
}

// An output may be written over what the group reads, but not over a factor of the product.
TEST_F(ProductGroups, LeaveTheFactorsUntilTheyHaveBeenRead) {
  const auto weight = input(DType::f32, {1, 64, 64}), x = input(DType::f32, {1, 64, 64});
  check({add(PointwiseFn::sub, {weight, add(ir::MatMul{}, {weight, x})})}, gpu_with_tiles(4), 1);
  const auto a = input(DType::f32, {1, 64, 16}), b = input(DType::f32, {1, 16, 64});
  const auto old = input(DType::f32, {1, 64, 64});
  check({add(PointwiseFn::sub, {old, add(ir::MatMul{}, {a, b})})}, gpu_with_tiles(4), 1);
}

TEST_F(ProductGroups, DrawRandomNumbersByTheirPositions) {
  const auto y = product(DType::f32, {40, 32, 17});
  ir::Random uniform;
  uniform.dtype = DType::f32;
  uniform.shape = {1, 40, 32};
  const auto drawn = add(uniform, {});
  check({add(PointwiseFn::add, {y, add(PointwiseFn::mul, {drawn, drawn})})}, gpu_with_tiles(4), 1);
}

TEST_F(ProductGroups, OfProductsThatOthersReadToo) {
  const auto y = product(DType::f32, {40, 32, 17});
  check({y, add(PointwiseFn::relu, {y})}, gpu_with_tiles(4), 2);
}

}  // namespace
}  // namespace burn::testing
