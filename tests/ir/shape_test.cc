#include "ir/types/shape.h"

#include <limits>

#include <gtest/gtest.h>

#include "ir/dispatch.h"

namespace burn::ir {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Dims, InsertAndEraseMoveTheRest) {
  Dims dims{1, 2, 3};
  dims.insert(0, 7);
  dims.insert(2, 8);
  EXPECT_EQ(dims, (Dims{7, 1, 8, 2, 3}));
  dims.erase(1);
  dims.push_back(9);
  EXPECT_EQ(dims, (Dims{7, 8, 2, 3, 9}));
  EXPECT_EQ(dims.back(), 9);
  EXPECT_TRUE(dims.contains(8));
  EXPECT_FALSE(dims.contains(1));
}

TEST(Dims, EqualityIgnoresWhatWasErased) {
  Dims dims{1, 2};
  dims.erase(1);
  EXPECT_EQ(dims, Dims{1});
  EXPECT_NE(dims, (Dims{1, 0}));
}

TEST(Dims, HoldsEightAndNoMore) {
  Dims dims = Dims::filled(kMaxRank, 1);
  EXPECT_EQ(dims.rank(), 8);
  EXPECT_DEATH(dims.push_back(1), "no room");
  EXPECT_DEATH(Dims::filled(9, 1), "too many");
  EXPECT_DEATH(Dims(std::vector<std::int64_t>(9)), "too many");
}

TEST(Shape, CountsElementsWithoutOverflow) {
  EXPECT_EQ(checked_num_elements({}), 1);
  EXPECT_EQ(checked_num_elements({2, 3}), 6);
  EXPECT_EQ(checked_num_elements({2, 0, 3}), 0);
  EXPECT_EQ(checked_num_elements({-1}), std::nullopt);
  EXPECT_EQ(checked_num_elements({0, -1}), std::nullopt);
  EXPECT_EQ(checked_num_elements({kHuge, kHuge}), std::nullopt);
  EXPECT_EQ(checked_num_elements({0, kHuge}), std::nullopt);
  EXPECT_EQ(checked_num_elements({std::int64_t{1} << 32, std::int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(checked_num_elements({std::int64_t{1} << 59}), std::int64_t{1} << 59);
  EXPECT_EQ(checked_num_elements({(std::int64_t{1} << 59) + 1}), std::nullopt);
}

TEST(Shape, StridesAreRowMajor) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
}

TEST(TensorType, PrintsDtypeAndShape) {
  EXPECT_EQ(to_string(TensorType{DType::bf16, {2, 3}}), "bf16[2, 3]");
  EXPECT_EQ(to_string(TensorType{DType::bool_, {}}), "bool[]");
  EXPECT_EQ((TensorType{DType::f64, {2, 3}}).num_bytes(), 48u);
}

TEST(DType, NamesRoundTripAndSizesAreThoseOfTheStoringTypes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    dispatch(dtype, [&]<typename T>() {
      EXPECT_EQ(kDTypeOf<T>, dtype);
      EXPECT_EQ(sizeof(T), size_of(dtype));
    });
    EXPECT_EQ(is_floating(dtype) + is_integer(dtype) + is_bool(dtype), 1) << name(dtype);
  }
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

}  // namespace
}  // namespace burn::ir
