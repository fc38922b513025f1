// Sums and products of integers and bools: in i64, where their own dtype would wrap, or in the dtype asked for.
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ops/einsum.h"
#include "client/tensor/functions.h"
#include "tests/client/tensor/errors.h"

namespace burn {
namespace {

using test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor<1, Int> filled(std::int64_t count, std::int64_t number, DType dtype) {
  return Tensor<1, Int>::full({count}, number, {"cpu", dtype});
}

template <int D>
std::vector<std::int64_t> values(const Tensor<D, Int>& x) {
  return x.to_data().template to_vec_as<std::int64_t>();
}

TEST(SumsOfIntegers, DoNotWrapInANarrowDtype) {
  struct Case {
    DType dtype;
    std::int64_t number;
  };
  for (const auto& [dtype, number] :
       {Case{DType::u8, 255}, Case{DType::i8, -128}, Case{DType::u16, 65535}, Case{DType::i16, -32768},
        Case{DType::u32, 4294967295}, Case{DType::i32, -2147483648}}) {
    for (const std::int64_t count : {3, 1000, 300000}) {
      const auto sum = filled(count, number, dtype).sum();
      EXPECT_EQ(sum.dtype(), DType::i64);
      EXPECT_THAT(values(sum), ElementsAre(number * count)) << ir::name(dtype) << " " << count;
    }
  }
  EXPECT_THAT(
      values(Tensor<1, Int>::from_ints({2'000'000'000, 2'000'000'000, 2'000'000'000}, {"cpu", DType::i32}).sum()),
      ElementsAre(6'000'000'000));
}

TEST(SumsOfIntegers, KeepDtypesOf64Bits) {
  EXPECT_EQ(filled(2, 3, DType::i64).sum().dtype(), DType::i64);
  const auto large = filled(2, std::numeric_limits<std::int64_t>::max(), DType::u64).sum();
  EXPECT_EQ(large.dtype(), DType::u64);
  EXPECT_THAT(large.to_vec_as<std::uint64_t>(), ElementsAre(std::numeric_limits<std::uint64_t>::max() - 1));
  EXPECT_EQ(filled(2, 3, DType::u64).prod().dtype(), DType::u64);
}

TEST(SumsOfIntegers, AlongDimsAreWide) {
  const auto x = Tensor<2, Int>::from_ints({{200, 100}, {100, 50}}, {"cpu", DType::u8});
  EXPECT_THAT(values(x.sum_dim(0)), ElementsAre(300, 150));
  EXPECT_THAT(values(x.sum_dim(1)), ElementsAre(300, 150));
  EXPECT_THAT(values(x.sum_dims({0, 1})), ElementsAre(450));
  EXPECT_THAT(values(x.sum_dims_squeeze<1>({1})), ElementsAre(300, 150));
  EXPECT_THAT(values(x.prod_dim(0)), ElementsAre(20'000, 5'000));
  EXPECT_THAT(values(x.prod_dims({0, 1})), ElementsAre(100'000'000));
  EXPECT_THAT(values(x.prod()), ElementsAre(100'000'000));
  EXPECT_THAT(values(x.cumsum(0)), ElementsAre(200, 100, 300, 150));
  EXPECT_THAT(values(x.cumprod(1)), ElementsAre(200, 20'000, 100, 5'000));
  for (const auto dtype : {x.sum_dim(0).dtype(), x.prod_dims({0}).dtype(), x.cumsum(0).dtype(), x.cumprod(0).dtype()})
    EXPECT_EQ(dtype, DType::i64);
}

TEST(SumsOfIntegers, AreInTheDtypeAskedFor) {
  const auto x = filled(1000, 255, DType::u8);
  EXPECT_EQ(x.sum(DType::u8).dtype(), DType::u8);
  EXPECT_THAT(values(x.sum(DType::u8)), ElementsAre(24));  // 255,000 modulo 256
  EXPECT_EQ(x.sum(DType::i32).dtype(), DType::i32);
  EXPECT_THAT(values(x.sum(DType::i32)), ElementsAre(255'000));
  const auto y = Tensor<2, Int>::from_ints({{200, 100}, {100, 50}}, {"cpu", DType::u8});
  EXPECT_THAT(values(y.sum_dim(0, DType::u8)), ElementsAre(44, 150));
  EXPECT_THAT(values(y.sum_dims({0, 1}, DType::u16)), ElementsAre(450));
  EXPECT_THAT(values(y.prod_dim(1, DType::i8)), ElementsAre(32, -120));  // of -56 * 100 and 100 * 50
  EXPECT_THAT(values(y.cumsum(0, DType::u8)), ElementsAre(200, 100, 44, 150));
  EXPECT_EQ(y.cumprod(0, DType::i16).dtype(), DType::i16);
  EXPECT_THAT(message_of([&] { (void)x.sum(DType::f32); }), HasSubstr("sum"));
}

TEST(SumsOfBools, CountThem) {
  const auto x = Tensor<2, Bool>::from_data({{true, false, true}, {true, true, false}}, "cpu");
  EXPECT_EQ(x.sum().dtype(), DType::i64);
  EXPECT_THAT(values(x.sum()), ElementsAre(4));
  EXPECT_THAT(values(x.sum_dim(0)), ElementsAre(2, 1, 1));
  EXPECT_THAT(values(x.prod_dim(1)), ElementsAre(0, 0));
  EXPECT_THAT(values(x.cumsum(1)), ElementsAre(1, 1, 2, 1, 2, 2));
  const auto many = Tensor<1, Bool>::full({100'003}, true, "cpu");
  EXPECT_THAT(values(many.sum()), ElementsAre(100'003));
  EXPECT_THAT(values(many.sum(DType::i32)), ElementsAre(100'003));
}

TEST(SumsOfIntegers, ReadWhatFormulasGive) {
  const auto x = Tensor<2, Int>::from_ints({{1, 2, 3}, {4, 5, 6}}, {"cpu", DType::i16});
  EXPECT_THAT(values((x > 2).sum_dim(1)), ElementsAre(1, 3));
  EXPECT_THAT(values((x * 1000).sum_dim(1)), ElementsAre(6000, 15000));
  EXPECT_THAT(values((x * 10000).sum()),
              ElementsAre(10000 + 20000 + 30000 + (40000 - 65536) + (50000 - 65536) + (60000 - 65536)));
  EXPECT_THAT(values(x.t().sum_dim(0)), ElementsAre(6, 15));
}

TEST(SumsOfIntegers, OfNothingAreTheNumbersThatChangeNothing) {
  const auto none = Tensor<1, Int>::zeros({0}, {"cpu", DType::u8});
  EXPECT_THAT(values(none.sum()), ElementsAre(0));
  EXPECT_THAT(values(none.prod()), ElementsAre(1));
  EXPECT_EQ(none.sum().dtype(), DType::i64);
}

// Reductions other than sums, and products of tensors.
TEST(SumsOfIntegers, OthersKeepTheirDtype) {
  const auto x = Tensor<1, Int>::from_ints({200, 100}, {"cpu", DType::u8});
  for (const auto dtype : {x.max().dtype(), x.min_dim(0).dtype(), x.cummax(0).dtype(), x.mean().dtype(),
                           x.mean_dim(0).dtype(), x.dot(x).dtype(), x.sort(0).dtype()})
    EXPECT_EQ(dtype, DType::u8);
  EXPECT_EQ((einsum<1>("i->", x).dtype()), DType::u8);
  EXPECT_THAT(values(x.mean()), ElementsAre(150));
}

TEST(SumsOfFloats, AreInTheDtypeAskedFor) {
  const auto x = Tensor<1>::full({4}, 60000, {Device{"cpu"}.autodiff(), DType::f16}).require_grad();
  EXPECT_EQ(x.sum().dtype(), DType::f16);
  const auto sum = x.sum(DType::f32);
  EXPECT_EQ(sum.dtype(), DType::f32);
  EXPECT_THAT(sum.to_vec_as<float>(), ElementsAre(240'000));  // more than the largest f16
  const auto gradient = x.grad(sum.backward());
  EXPECT_EQ(gradient->dtype(), DType::f16);
  EXPECT_THAT(gradient->to_vec_as<float>(), ::testing::Each(1));
}

}  // namespace
}  // namespace burn
