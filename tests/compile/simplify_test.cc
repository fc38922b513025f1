// Programs without what they do not need.
#include "compile/rewrite/simplify.h"

#include <gtest/gtest.h>

#include "compile/plan/recompute.h"

namespace burn::compile {
namespace {

using ir::PointwiseFn;
using ir::Ref;

class SimplifiedPrograms : public ::testing::Test {
 protected:
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) {
    return *builder_.add(ir::Pointwise{fn}, std::span(operands.begin(), operands.size()));
  }

  ir::ProgramBuilder builder_;
  const Ref x_ = builder_.add_input({ir::DType::f32, {4}}), y_ = builder_.add_input({ir::DType::f32, {4}});
};

TEST_F(SimplifiedPrograms, AreNotWrittenAnewWhereAllNodesStay) {
  const auto sum = add(PointwiseFn::add, {x_, y_});
  const auto program = builder_.finish({add(PointwiseFn::mul, {sum, y_})});
  EXPECT_FALSE(simplified(program, true).has_value());
  EXPECT_TRUE(ir::same(simplify(program, true), program));
  const auto shared = std::make_shared<const ir::Program>(program);
  EXPECT_EQ(prepare(shared, {}), shared);
}

TEST_F(SimplifiedPrograms, KeepWhatIsBeforeTheFirstNodeThatGoes) {
  const auto sum = add(PointwiseFn::add, {x_, y_}), product = add(PointwiseFn::mul, {sum, y_});
  const auto again = add(PointwiseFn::add, {x_, y_});
  const auto program = builder_.finish({add(PointwiseFn::sub, {product, again})});
  const auto made = simplified(program, true);
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->nodes.size(), 3u);
  EXPECT_EQ(made->values.size(), 3u);
  EXPECT_EQ(made->operands, (std::vector{x_, y_, sum, y_, product, sum}));
  EXPECT_EQ(made->outputs, std::vector{Ref::value(2)});
  EXPECT_EQ(made->hash, program.hash);
  const auto shared = std::make_shared<const ir::Program>(program);
  EXPECT_EQ(prepare(shared, {})->nodes.size(), 3u);
  EXPECT_EQ(shared->nodes.size(), 4u);
}

TEST_F(SimplifiedPrograms, LoseNodesThatNoOutputNeeds) {
  const auto sum = add(PointwiseFn::add, {x_, y_});
  add(PointwiseFn::exp, {sum});
  const auto last = add(PointwiseFn::mul, {sum, sum});
  const auto program = builder_.finish({last});
  const auto made = simplified(program, false);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->operands, (std::vector{x_, y_, sum, sum}));
  EXPECT_EQ(made->outputs, std::vector{Ref::value(1)});
}

}  // namespace
}  // namespace burn::compile
