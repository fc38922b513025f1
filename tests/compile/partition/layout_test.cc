#include "compile/partition/layout.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::compile::partition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Bounds, AreAsEvenAsCanBe) {
  EXPECT_THAT(balanced(12, 3), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(balanced(10, 4), ElementsAre(0, 2, 5, 7, 10));
  EXPECT_THAT(balanced(2, 4), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(balanced(0, 2), ElementsAre(0, 0, 0));
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(balanced(kLargest, 2), ElementsAre(0, kLargest / 2, kLargest));
}

TEST(Bounds, FollowWeights) {
  const double weights[] = {1, 3, 0, 2};
  EXPECT_THAT(weighted(12, weights), ElementsAre(0, 2, 8, 8, 12));
  const double thirds[] = {0.1, 0.1, 0.1};
  EXPECT_EQ(weighted(7, thirds).back(), 7);
}

TEST(Layout, GivesThePartsTheirTypes) {
  const ir::TensorType whole{ir::DType::f32, {5, 6}};
  const auto split = Layout::split(1, {0, 4, 4, 6});
  EXPECT_EQ(to_string(part_of(whole, split, 0)), "f32[5, 4]");
  EXPECT_EQ(to_string(part_of(whole, split, 1)), "f32[5, 0]");
  EXPECT_EQ(to_string(part_of(whole, split, 2)), "f32[5, 2]");
  EXPECT_EQ(part_of(whole, Layout{}, 2), whole);
}

TEST(Layout, HasToFitTheValueAndTheMembers) {
  const ir::TensorType whole{ir::DType::f32, {5, 6}};
  const auto refused = [&](const Layout& layout) { return !check_layout(whole, layout, 2).ok(); };
  EXPECT_FALSE(refused({}));
  EXPECT_FALSE(refused(Layout::split(0, {0, 5, 5})));
  EXPECT_TRUE(refused(Layout::split(2, {0, 1, 2})));
  EXPECT_TRUE(refused(Layout::split(0, {0, 5})));
  EXPECT_TRUE(refused(Layout::split(0, {0, 2, 6})));
  EXPECT_TRUE(refused(Layout::split(0, {1, 2, 5})));
  EXPECT_TRUE(refused(Layout::split(0, {0, 6, 5})));
  EXPECT_THAT(check_layout(whole, Layout::split(0, {0, 2, 6}), 2).message(),
              HasSubstr("split 0 at 0 2 6 does not divide f32[5, 6] among 2 members"));
}

TEST(Form, CostsWhatItsCollectiveSends) {
  const ir::TensorType type{ir::DType::f32, {8, 4}};  // 128 bytes
  const auto rows = Form::split(0, balanced(8, 4)), columns = Form::split(1, balanced(4, 4));
  const auto sum = Form::partial(ir::ReduceFn::sum);
  const auto bytes = [&](const Form& from, const Form& to) { return conversion_bytes(type, from, to, 4); };
  EXPECT_EQ(bytes(sum, Form::whole()), 192);
  EXPECT_EQ(bytes(sum, rows), 96);
  EXPECT_EQ(bytes(rows, Form::whole()), 96);
  EXPECT_EQ(bytes(rows, columns), 24);
  EXPECT_EQ(bytes(rows, rows), 0);
  EXPECT_EQ(bytes(Form::whole(), rows), 0);
  EXPECT_EQ(bytes(Form::whole(), sum), 0);
}

}  // namespace
}  // namespace burn::compile::partition
