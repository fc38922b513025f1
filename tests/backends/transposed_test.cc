// Products that are wanted the other way round.
#include "compile/rewrite/transposed.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/plan/recompute.h"
#include "tests/reference/interpreter.h"

namespace burn::backends {
namespace {

using ir::Ref;
using ::testing::ElementsAre;

class TurnedProducts : public ::testing::Test {
 protected:
  Ref input(const ir::Shape& shape) {
    reference::Tensor tensor(ir::TensorType{ir::DType::f32, shape});
    for (std::size_t i = 0; i < tensor.size(); ++i) tensor.set(i, 0.125 * (next_++ % 17) - 1);
    inputs_.push_back(std::move(tensor));
    return builder_.add_input({ir::DType::f32, shape});
  }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return *builder_.add(op, std::span(operands.begin(), operands.size()));
  }
  Ref matmul(Ref a, Ref b) { return add(ir::MatMul{}, {a, b}); }
  Ref transposed(Ref x) {
    const int rank = builder_.type_of(x).shape.rank();
    ir::Dims axes = ir::Shape::filled(rank, 0);
    for (int i = 0; i < rank; ++i) axes[i] = i;
    std::swap(axes[rank - 2], axes[rank - 1]);
    return add(ir::Permute{axes}, {x});
  }

  // The names of the nodes that are left; the numbers are those of the program as it was.
  std::vector<std::string> nodes(std::vector<Ref> outputs) {
    const auto program = builder_.finish(std::move(outputs));
    const auto made = compile::prepare(program, {});
    EXPECT_EQ(made.hash, program.hash);
    const auto expected = reference::evaluate(program, inputs_), actual = reference::evaluate(made, inputs_);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(actual[k].type, expected[k].type);
      EXPECT_EQ(actual[k].bits, expected[k].bits) << "output " << k;
    }
    std::vector<std::string> names;
    names.reserve(made.nodes.size());
    for (const auto& node : made.nodes) names.emplace_back(ir::name(node.op));
    return names;
  }

  ir::ProgramBuilder builder_;
  std::vector<reference::Tensor> inputs_;
  int next_ = 0;
};

// As the gradient of a table that an embedding and the last layer share.
TEST_F(TurnedProducts, OfATransposedOperandNeedNoTranspositionOfTheirOwn) {
  const auto h = input({6, 4}), g = input({6, 9});
  EXPECT_THAT(nodes({transposed(matmul(transposed(h), g))}), ElementsAre("permute", "matmul"));
}

TEST_F(TurnedProducts, TransposeTheirOperands) {
  const auto a = input({3, 4}), b = input({4, 5});
  EXPECT_THAT(nodes({transposed(matmul(a, b))}), ElementsAre("permute", "permute", "matmul"));
}

TEST_F(TurnedProducts, OfBatchesStay) {
  const auto a = input({5, 3, 4}), b = input({5, 4, 6});
  EXPECT_THAT(nodes({transposed(matmul(a, b))}), ElementsAre("matmul", "permute"));
}

TEST_F(TurnedProducts, AreThoseOfEqualTranspositionsToo) {
  const auto a = input({3, 4}), b = input({4, 5});
  const auto product = matmul(a, b);
  const auto exp = add(ir::Pointwise{ir::PointwiseFn::exp}, {transposed(product)});
  const auto log = add(ir::Pointwise{ir::PointwiseFn::neg}, {transposed(product)});
  EXPECT_THAT(nodes({exp, log}), ElementsAre("permute", "permute", "matmul", "exp", "neg"));
}

TEST_F(TurnedProducts, StayWhereNothingIsFused) {
  const auto a = input({3, 4}), b = input({4, 5});
  const auto program = builder_.finish({transposed(matmul(a, b))});
  EXPECT_EQ(compile::prepare(program, {.fusion = false}).nodes.size(), 2u);
}

TEST_F(TurnedProducts, OfProductsAreTurnedOneByOne) {
  const auto a = input({3, 4}), b = input({4, 5}), c = input({3, 7});
  EXPECT_THAT(nodes({transposed(matmul(transposed(matmul(a, b)), c))}),
              ElementsAre("permute", "permute", "matmul", "permute", "permute", "matmul"));
}

TEST_F(TurnedProducts, StayWhereSomebodyElseReadsThem) {
  const auto a = input({3, 4}), b = input({4, 5});
  const auto product = matmul(a, b);
  EXPECT_THAT(nodes({transposed(product), add(ir::Pointwise{ir::PointwiseFn::exp}, {product})}),
              ElementsAre("matmul", "permute", "exp"));
}

TEST_F(TurnedProducts, StayWhereOtherAxesChangePlaces) {
  const auto a = input({2, 3, 4}), b = input({2, 4, 5});
  EXPECT_THAT(nodes({add(ir::Permute{{1, 0, 2}}, {matmul(a, b)})}), ElementsAre("matmul", "permute"));
}

}  // namespace
}  // namespace burn::backends
