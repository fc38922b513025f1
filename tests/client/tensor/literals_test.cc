// Numbers in a program's text reach tensors of f64, i64 or u64 exactly, in every argument that takes a number, and are
// read back exactly.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "client/ops/activation.h"
#include "client/tensor/linalg.h"
#include "tests/support/error_of.h"
#include "tests/support/seeded.h"

namespace burn {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorOptions kDouble{"cpu", DType::f64};
constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // not representable as a double
constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

template <int D>
std::vector<double> doubles(const Tensor<D>& x) {
  return x.to_data().template to_vec<double>();  // throws unless it is f64
}

TEST(Literals, ListsOfEveryRankKeepDoubles) {
  EXPECT_THAT(doubles(Tensor<1>::from_data({0.1, 0.2}, kDouble)), ElementsAre(0.1, 0.2));
  EXPECT_THAT(doubles(Tensor<2>::from_data({{0.1}, {0.2}}, kDouble)), ElementsAre(0.1, 0.2));
  EXPECT_THAT(doubles(Tensor<3>::from_floats({{{0.1, 1}}, {{2, 0.2}}}, kDouble)), ElementsAre(0.1, 1, 2, 0.2));
  EXPECT_THAT(doubles(Tensor<4>::from_data({{{{0.1}}}}, kDouble)), ElementsAre(0.1));
  EXPECT_THAT(doubles(Tensor<5>::from_data({{{{{0.1}}}}}, kDouble)), ElementsAre(0.1));
  EXPECT_THAT(doubles(Tensor<6>::from_data({{{{{{0.1}}}}}}, kDouble)), ElementsAre(0.1));
}

TEST(Literals, ListsAreOfTheKindsDtypeUnlessAskedForAnother) {
  EXPECT_EQ(Tensor<1>::from_data({0.1}, "cpu").dtype(), DType::f32);
  EXPECT_EQ(Tensor<1>::from_data({0.1f}, "cpu").dtype(), DType::f32);
  EXPECT_EQ((Tensor<1, Int>::from_data({1u}, "cpu").dtype()), DType::i64);
  EXPECT_EQ((Tensor<1, Int>::from_data({std::uint64_t{1}}, "cpu").dtype()), DType::i64);
  EXPECT_EQ((Tensor<1, Bool>::from_data({true}, "cpu").dtype()), DType::bool_);
}

TEST(Literals, ListsOfFloatsAndOfMixedNumbersCompile) {
  const std::initializer_list<float> named{0.5f, 2};
  const float x = 0.25f;
  const double y = 0.1;
  EXPECT_THAT(doubles(Tensor<1>::from_data(named, kDouble)), ElementsAre(0.5, 2));
  EXPECT_THAT(doubles(Tensor<1>::from_data({x, x}, kDouble)), ElementsAre(0.25, 0.25));
  EXPECT_THAT(doubles(Tensor<1>::from_data({x, y, 1}, kDouble)), ElementsAre(0.25, 0.1, 1));
  EXPECT_THAT(doubles(Tensor<2>::from_floats({{1.f, 2}, {3, 4.f}}, kDouble)), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Tensor<1>::from_data({}, "cpu").num_elements(), 0);
}

TEST(Literals, WholeNumbersBeyondThoseOfDoubles) {
  EXPECT_EQ((Tensor<1, Int>::from_data({kOdd}, "cpu").item()), kOdd);
  EXPECT_EQ((Tensor<1, Int>::full({1}, kOdd, "cpu").item()), kOdd);
  EXPECT_EQ(((Tensor<1, Int>::zeros({1}, "cpu") + kOdd).item()), kOdd);
  EXPECT_EQ(TensorData::full_dtype({1}, kOdd, DType::i64).to_vec<std::int64_t>()[0], kOdd);
  const TensorOptions unsigned_64{"cpu", DType::u64};
  for (const auto& x :
       {Tensor<1, Int>::from_data({kMax}, unsigned_64), Tensor<1, Int>::from_ints({kMax}, unsigned_64),
        Tensor<1, Int>::full({1}, kMax, unsigned_64), Tensor<1, Int>::zeros({1}, unsigned_64).clamp_min(kMax)}) {
    EXPECT_EQ(x.item<std::uint64_t>(), kMax);
  }
  EXPECT_THAT(error_of([] { (void)Tensor<1, Int>::from_data({kMax}, "cpu"); }),
              AllOf(HasSubstr("18446744073709551615 is no i64"), HasSubstr("literals_test.cc")));
}

TEST(Literals, ItemHoldsWhatTheTensorHolds) {
  EXPECT_EQ(Tensor<1>::from_data({0.1}, kDouble).item(), 0.1);
  EXPECT_EQ(Tensor<1>::from_data({0.1}, kDouble).into_scalar(), 0.1);
  EXPECT_EQ(*Tensor<1>::from_data({0.1}, kDouble).try_into_scalar(), 0.1);
  EXPECT_EQ(Tensor<1>::from_data({0.1}, kDouble).into_scalar_async().get(), 0.1);
  EXPECT_EQ(Tensor<1>::from_data({0.1}, "cpu").item(), 0.1f);
  const auto single = static_cast<float>(Tensor<1>::from_data({0.1}, "cpu").item());
  EXPECT_EQ(single, 0.1f);
  EXPECT_EQ(Tensor<1>::from_data({0.1}, kDouble).item<float>(), 0.1f);
}

TEST(Literals, AWholeNumberThatTheTypeDoesNotHaveIsNoItem) {
  const auto most = Tensor<1, Int>::full({1}, kMax, {"cpu", DType::u64});
  EXPECT_THAT(error_of([&] { (void)most.item(); }),
              AllOf(HasSubstr("18446744073709551615 is no i64, but a u64"), HasSubstr("literals_test.cc")));
  EXPECT_THAT(error_of([&] { (void)Tensor<1, Int>::full({1}, 300, "cpu").item<std::uint8_t>(); }),
              HasSubstr("300 is no u8"));
}

TEST(Literals, EveryFunctionOfATensorAndANumber) {
  const auto zero = Tensor<1>::zeros({1}, kDouble), one = Tensor<1>::ones({1}, kDouble);
  const auto tenth = Tensor<1>::from_data({0.1}, kDouble);
  const auto yes = zero.lower(1);
  const std::vector<std::pair<const char*, Tensor<1>>> all{
      {"full", Tensor<1>::full({1}, 0.1, kDouble)},
      {"full_like", Tensor<1>::full_like(zero, 0.1)},
      {"add", zero.add(0.1)},
      {"+", zero + 0.1},
      {"+ from the left", 0.1 + zero},
      {"sub", 0.2 - tenth},
      {"mul", one.mul(0.1)},
      {"*", 0.1 * one},
      {"div", one / 10.0},
      {"/ from the left", 0.1 / one},
      {"remainder", one % 0.9 - (1 - 0.9) + 0.1},
      {"max_pair", zero.max_pair(0.1)},
      {"min_pair", one.min_pair(0.1)},
      {"clamp", zero.clamp(0.1, 0.2)},
      {"clamp above", one.clamp(0, 0.1)},
      {"clamp_min", zero.clamp_min(0.1)},
      {"clamp_max", one.clamp_max(0.1)},
      {"mask_fill", zero.mask_fill(yes, 0.1)},
      {"mask_where", zero.mask_where(yes, tenth)},
      {"slice_fill", zero.slice_fill({s()}, 0.1)},
      {"pad", zero.pad({{1, 0}}, 0.1).slice({s(0, 1)})},
      {"one_hot_fill", zero.one_hot_fill(1, 0.1, 0.2, 0).reshape<1>({1})},
      {"uniform", Tensor<1>::random({1}, Distribution::uniform(0.1, 0.1), kDouble)},
      {"normal", Tensor<1>::random({1}, Distribution::normal(0.1, 0), kDouble)},
      {"leaky_relu", -Tensor<1>{client::leaky_relu((-one).value(), 0.1, {})}},
  };
  for (const auto& [name, result] : all) EXPECT_EQ(result.item(), 0.1) << name;
}

TEST(Literals, PowersTakeDoubleExponents) {
  EXPECT_NEAR(Tensor<1>::full({1}, 2, kDouble).powf(0.1).item(), std::pow(2.0, 0.1), 4e-16);
}

TEST(Literals, ComparisonsTellWhatDoublesTell) {
  const auto tenth = Tensor<1>::from_data({0.1}, kDouble);
  const double above = std::nextafter(0.1, 1), below = std::nextafter(0.1, 0);
  EXPECT_TRUE(tenth.equal(0.1).item());
  EXPECT_FALSE(tenth.not_equal(0.1).item());
  EXPECT_FALSE(tenth.equal(0.1f).item());
  EXPECT_TRUE((tenth < above).item());
  EXPECT_TRUE((tenth > below).item());
  EXPECT_FALSE((tenth >= above).item());
  EXPECT_FALSE((tenth <= below).item());
}

TEST(Literals, NormsAndTheirEpsilons) {
  const auto x = Tensor<1>::from_data({0.1, 0.2}, kDouble);
  EXPECT_EQ(linalg::vector_normalize(Tensor<1>::from_data({1e-3}, kDouble), 2, 0, 0.1).item(), 1e-3 / 0.1);
  EXPECT_NEAR(linalg::vector_norm(x, 1.5, 0).item(), std::pow(std::pow(0.1, 1.5) + std::pow(0.2, 1.5), 1 / 1.5), 1e-16);
  EXPECT_NEAR(x.deg2rad().sum().item(), 0.3 * M_PI / 180, 1e-17);
}

TEST(Literals, OfHostData) {
  EXPECT_EQ(TensorData::full_dtype({1}, 0.1, DType::f64).to_vec<double>()[0], 0.1);
  EXPECT_EQ(TensorData::full_dtype({1}, kMax, DType::u64).to_vec<std::uint64_t>()[0], kMax);
  EXPECT_EQ(TensorData::full_dtype({1}, 1e9, DType::i8).to_vec<std::int8_t>()[0], 127);
}

}  // namespace
}  // namespace burn
