#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

constexpr auto f32 = DType::f32;
constexpr auto i64 = DType::i64;
constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();

// reshape C1, C2
TEST(ShapeRules, ReshapeKeepsTheNumberOfElements) {
  const TensorType x{f32, {2, 3}};
  EXPECT_EQ(inferred(Reshape{{3, 1, 2}}, {x}), "f32[3, 1, 2]");
  EXPECT_EQ(inferred(Reshape{{7}}, {x}), "reshape: f32[2, 3] to [7] changes the number of elements (6 and 7)");
  EXPECT_EQ(inferred(Reshape{{}}, {{f32, {1, 1}}}), "f32[]");
  EXPECT_EQ(inferred(Reshape{{5, 0}}, {{f32, {0, 3}}}), "f32[5, 0]");
  EXPECT_THAT(inferred(Reshape{{-2, -3}}, {x}), HasSubstr("is no shape"));
  EXPECT_THAT(inferred(Reshape{{kHuge, kHuge}}, {x}), HasSubstr("is no shape"));
}

// place C1
TEST(ShapeRules, PlaceIsAlongAnAxisThatIsThere) {
  const TensorType x{f32, {2, 3}};
  EXPECT_EQ(inferred(Place{1, MeshAxis::model}, {x}), "f32[2, 3]");
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{2}, kHuge, kLeast})
    EXPECT_THAT(inferred(Place{bad}, {x}), HasSubstr("place: axis " + std::to_string(bad) + " is out of range"));
  EXPECT_THAT(inferred(Place{0}, {{f32, {}}}), HasSubstr("out of range"));
}

// permute C1
TEST(ShapeRules, PermuteNamesEveryAxisOnce) {
  const TensorType x{f32, {2, 3, 4}};
  for (const Dims& bad :
       {Dims{0, 1}, Dims{0, 0, 1}, Dims{0, 1, 3}, Dims{-1, 0, 1}, Dims{kHuge, 0, 1}, Dims{0, 1, 2, 3}}) {
    EXPECT_THAT(inferred(Permute{bad}, {x}), HasSubstr("is no order of the axes of f32[2, 3, 4]"));
  }
  EXPECT_EQ(inferred(Permute{{}}, {{f32, {}}}), "f32[]");
}

// expand C1, C2, C3
TEST(ShapeRules, ExpandRepeatsOnesOnly) {
  EXPECT_EQ(inferred(Expand{{2, 3}}, {{f32, {}}}), "f32[2, 3]");
  EXPECT_EQ(inferred(Expand{{0, 3}}, {{f32, {1, 3}}}), "f32[0, 3]");
  EXPECT_THAT(inferred(Expand{{4}}, {{f32, {2}}}), HasSubstr("expand: f32[2] does not repeat up to [4]"));
  EXPECT_THAT(inferred(Expand{{2}}, {{f32, {1, 2}}}), HasSubstr("does not repeat"));
  EXPECT_THAT(inferred(Expand{{2, 1}}, {{f32, {2}}}), HasSubstr("does not repeat"));
  EXPECT_THAT(inferred(Expand{{-1}}, {{f32, {1}}}), HasSubstr("is no shape"));
  EXPECT_THAT(inferred(Expand{{kHuge, 8}}, {{f32, {1}}}), HasSubstr("is no shape"));
}

// slice C2, C3
TEST(ShapeRules, SlicesAgreeWithCountingTheirIndices) {
  constexpr std::int64_t kDim = 5;
  for (std::int64_t start = -2; start <= 7; ++start) {
    for (std::int64_t size = -1; size <= 7; ++size) {
      for (std::int64_t step = -6; step <= 6; ++step) {
        bool inside = step != 0 && size >= 0 && start >= 0 && start <= kDim;
        for (std::int64_t i = 0; i < size; ++i) {
          const auto at = start + i * step;
          inside = inside && at >= 0 && at < kDim;
        }
        EXPECT_EQ(infer_types(Slice{{start}, {size}, {step}}, std::vector<TensorType>{{f32, {kDim}}}).ok(), inside)
            << start << " " << size << " " << step;
      }
    }
  }
}

// slice C2, C3, C4; slice_assign C3
TEST(ShapeRules, SlicesTakeNoHostileNumbers) {
  const TensorType x{f32, {4, 5}};
  for (const auto bad : {kHuge, kLeast}) {
    EXPECT_THAT(inferred(Slice{{bad, 0}, {1, 1}, {1, 1}}, {x}), HasSubstr("do not fit dim 0 of f32[4, 5]"));
    EXPECT_THAT(inferred(Slice{{0, 0}, {1, bad}, {1, 1}}, {x}), HasSubstr("do not fit dim 1"));
    EXPECT_THAT(inferred(Slice{{0, 0}, {2, 1}, {bad, 1}}, {x}), HasSubstr("do not fit dim 0"));
    EXPECT_THAT(inferred(Slice{{0, 0}, {1, 1}, {bad, 1}}, {x}), HasSubstr("do not fit dim 0"));
    EXPECT_THAT(inferred(SliceAssign{{0, 0}, {1, bad}}, {x, {f32, {1, 1}}}), HasSubstr("do not fit dim 1"));
  }
  EXPECT_EQ(inferred(Slice{{0, 0}, {1, 1}, {100, -100}}, {x}), "f32[1, 1]") << "a long step over nothing is fine";
}

// slice C1; slice_assign C1, C2, C3
TEST(ShapeRules, SlicesHaveOneEntryPerDim) {
  const TensorType x{f32, {4, 5}};
  EXPECT_THAT(inferred(Slice{{0}, {1, 1}, {1, 1}}, {x}), HasSubstr("must have one entry per dim of f32[4, 5]"));
  EXPECT_THAT(inferred(Slice{{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}, {x}), HasSubstr("one entry per dim"));
  EXPECT_THAT(inferred(SliceAssign{{0, 0}, {1, 1}}, {x, {f32, {1}}}), HasSubstr("one entry per dim"));
  EXPECT_THAT(inferred(SliceAssign{{0, 0}, {1, 1}}, {x, {DType::f64, {1, 1}}}), HasSubstr("dtypes differ"));
  EXPECT_THAT(inferred(SliceAssign{{0, 1}, {1, 1}}, {x, {f32, {4, 5}}}), HasSubstr("do not fit dim 1"));
}

// concat C2, C3; all C2
TEST(ShapeRules, ConcatOperandsDifferAlongTheAxisOnly) {
  const TensorType x{f32, {2, 3}};
  EXPECT_EQ(inferred(Concat{0}, {x}), "f32[2, 3]");
  EXPECT_EQ(inferred(Concat{0}, {x, {f32, {0, 3}}, x}), "f32[4, 3]");
  EXPECT_EQ(inferred(Concat{0}, {x, {f32, {2, 4}}}), "concat: f32[2, 4] does not fit f32[2, 3] along axis 0");
  EXPECT_THAT(inferred(Concat{0}, {x, {DType::f64, {2, 3}}}), HasSubstr("does not fit"));
  EXPECT_THAT(inferred(Concat{0}, {x, {f32, {2}}}), HasSubstr("does not fit"));
  EXPECT_THAT(inferred(Concat{2}, {x}), HasSubstr("out of range"));
  EXPECT_THAT(inferred(Concat{0}, {{f32, {}}}), HasSubstr("out of range"));
  const TensorType large{f32, {std::int64_t{1} << 59}};
  EXPECT_THAT(inferred(Concat{0}, std::vector(100, large)), HasSubstr("too many elements"));
}

// gather C1, C2, C3; scatter C1, C2, C3
TEST(ShapeRules, AnIndexHasTheSizesOfItsTensorExceptAlongTheAxis) {
  const TensorType x{f32, {2, 3}};
  EXPECT_EQ(inferred(Gather{1}, {x, {DType::i32, {2, 9}}}), "f32[2, 9]");
  EXPECT_EQ(inferred(Gather{1}, {x, {i64, {3, 9}}}),
            "gather: index i64[3, 9] must have the sizes of f32[2, 3] except along axis 1");
  EXPECT_THAT(inferred(Gather{1}, {x, {i64, {2}}}), HasSubstr("must have the sizes"));
  EXPECT_THAT(inferred(Gather{1}, {x, {f32, {2, 9}}}), HasSubstr("must be i32 or i64, got f32[2, 9]"));
  EXPECT_THAT(inferred(Gather{1}, {x, {DType::u8, {2, 9}}}), HasSubstr("must be i32 or i64"));
  EXPECT_THAT(inferred(Gather{-1}, {x, {i64, {2, 9}}}), HasSubstr("out of range"));
  EXPECT_THAT(inferred(Gather{0}, {{f32, {}}, {i64, {}}}), HasSubstr("out of range"));
  const TensorType values{f32, {2, 9}};
  EXPECT_THAT(inferred(Scatter{2}, {x, {i64, {2, 9}}, values}), HasSubstr("out of range"));
  EXPECT_THAT(inferred(Scatter{1}, {x, values, values}), HasSubstr("must be i32 or i64"));
  EXPECT_THAT(inferred(Scatter{1}, {x, {i64, {3, 9}}, values}), HasSubstr("must have the sizes"));
}

// scatter C4, C5
TEST(ShapeRules, ScatterTakesOneValuePerIndex) {
  const TensorType x{f32, {2, 3}}, index{i64, {2, 9}}, yes{DType::bool_, {2, 3}};
  EXPECT_EQ(inferred(Scatter{1, ScatterFn::max}, {x, index, {f32, {2, 9}}}), "f32[2, 3]");
  EXPECT_THAT(inferred(Scatter{1, ScatterFn::add}, {x, index, {f32, {2, 8}}}),
              HasSubstr("scatter: values f32[2, 8] must"));
  EXPECT_THAT(inferred(Scatter{1, ScatterFn::add}, {x, index, {i64, {2, 9}}}), HasSubstr("must have the dtype"));
  EXPECT_THAT(inferred(Scatter{1, ScatterFn::mul}, {yes, index, {DType::bool_, {2, 9}}}), HasSubstr("takes numbers"));
  EXPECT_EQ(inferred(Scatter{1, ScatterFn::assign}, {yes, index, {DType::bool_, {2, 9}}}), "bool[2, 3]");
}

}  // namespace
}  // namespace burn::ir
