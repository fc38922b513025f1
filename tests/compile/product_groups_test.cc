#include "compile/plan/product_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/rewrite/simplify.h"

namespace burn::compile {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = ProductWithEpilogue::Kind;

constexpr std::uint64_t kBytes = 64 * 48 * 4;  // of the products here

class ProductGroups : public ::testing::Test {
 protected:
  Ref input(const ir::Shape& shape) { return program_.add_input({DType::f32, shape}); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return *program_.add(op, std::span(operands.begin(), operands.size()));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref product() { return add(ir::MatMul{}, {input({64, 32}), input({32, 48})}); }

  const Plan& plan(std::vector<Ref> outputs) {
    made_ = simplify(program_.finish(std::move(outputs)), true);
    plan_ = make_plan(made_, {.product_group_bytes = kBytes});
    program_ = {};
    return plan_;
  }
  std::string_view op(std::int32_t node) const { return ir::name(made_.nodes[static_cast<std::size_t>(node)].op); }

  ir::ProgramBuilder program_;
  ir::Program made_;
  Plan plan_;
};

TEST_F(ProductGroups, AreOneStepWithTheirProduct) {
  const auto x = input({64, 32}), w = input({32, 48}), other = input({64, 48});
  const auto sum = add(PointwiseFn::add, {add(ir::MatMul{}, {x, w}), other});
  const auto& made = plan({sum, add(PointwiseFn::relu, {sum})});
  ASSERT_THAT(made.steps, SizeIs(1));
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_EQ(made.products[0].kind, Kind::group);
  EXPECT_EQ(op(made.products[0].product), "matmul");
  EXPECT_THAT(made.groups[static_cast<std::size_t>(made.products[0].group)].members, SizeIs(2));
  EXPECT_THAT(made.steps[0].reads, ElementsAre(x, w, other));
  EXPECT_THAT(made.steps[0].results, SizeIs(2));
  EXPECT_THAT(to_string(made, made_), HasSubstr("matmul with a group: add relu"));
}

TEST_F(ProductGroups, MayBeASingleFunctionOrCast) {
  EXPECT_THAT(plan({add(PointwiseFn::relu, {product()})}).steps, SizeIs(1));
  EXPECT_THAT(plan({add(ir::Cast{DType::bf16}, {product()})}).steps, SizeIs(1));
}

TEST_F(ProductGroups, ReadTheProductThroughReshapes) {
  const auto y = add(ir::Reshape{{2, 2, 16, 48}}, {add(ir::Reshape{{4, 16, 48}}, {product()})});
  const auto& made = plan({add(PointwiseFn::relu, {y})});
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_THAT(made.steps, SizeIs(1));
}

TEST_F(ProductGroups, JoinTheLastOfSeveralProducts) {
  const auto first = product(), second = product();
  const auto& made = plan({add(PointwiseFn::add, {second, first})});
  ASSERT_THAT(made.products, SizeIs(1));
  EXPECT_EQ(made_.node_of(second), made.products[0].product);
  EXPECT_THAT(made.steps, SizeIs(2));
}

// The step stands where the group stood: what the group waits for is there.
TEST_F(ProductGroups, WaitForWhatElseTheyRead) {
  const auto y = product();
  const auto late = add(ir::Scan{ir::ReduceFn::sum, 0}, {input({64, 48})});
  const auto& made = plan({add(PointwiseFn::mul, {y, late})});
  ASSERT_THAT(made.steps, SizeIs(2));
  EXPECT_EQ(made.steps[1].product, 0);
}

TEST_F(ProductGroups, OfProductsWithAnotherReaderStayApart) {
  const auto y = product();
  EXPECT_THAT(plan({y, add(PointwiseFn::relu, {y})}).products, IsEmpty());
  const auto z = product();
  EXPECT_THAT(plan({add(ir::Scan{ir::ReduceFn::sum, 0}, {z}), add(PointwiseFn::relu, {z})}).products, IsEmpty());
}

TEST_F(ProductGroups, ThatReadAPartOfTheProductOrTurnItStayApart) {
  EXPECT_THAT(plan({add(PointwiseFn::relu, {add(ir::Slice{{0, 0}, {32, 48}, {1, 1}}, {product()})})}).products,
              IsEmpty());
  EXPECT_THAT(plan({add(PointwiseFn::relu, {add(ir::Permute{{1, 0}}, {product()})})}).products, IsEmpty());
}

TEST_F(ProductGroups, ThatCombineRowsStayApart) {
  const auto y = add(PointwiseFn::relu, {product()});
  const auto& made = plan({y, add(ir::Reduce{ir::ReduceFn::sum, {1}}, {add(PointwiseFn::exp, {y})})});
  EXPECT_THAT(made.products, IsEmpty());
}

// A kernel of products has the group once for each element that a thread sums up.
TEST_F(ProductGroups, ThatTakeManyInstructionsStayApart) {
  auto y = product();
  for (int k = 0; k < 4; ++k) y = add(PointwiseFn::tanh, {y});
  EXPECT_THAT(plan({y}).products, IsEmpty());
}

TEST_F(ProductGroups, AreNotJoinedUnlessADeviceDoesItForProductsOfTheirSize) {
  made_ = program_.finish({add(PointwiseFn::relu, {product()})});
  EXPECT_THAT(make_plan(made_, {}).products, IsEmpty());
  EXPECT_THAT(make_plan(made_, {.product_group_bytes = kBytes - 1}).products, IsEmpty());
  EXPECT_THAT(make_plan(made_, {.fusion = false, .product_group_bytes = kBytes}).products, IsEmpty());
}

}  // namespace
}  // namespace burn::compile
