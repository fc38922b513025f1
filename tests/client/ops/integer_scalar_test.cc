// Scalars of any kind with tensors of integers, and 64-bit integers with tensors of floats.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "client/capture/capture.h"
#include "client/tensor/tensor.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Device& cpu() {
  static const Device device{"cpu"};
  return device;
}

Tensor<1, Int> ints(std::vector<std::int64_t> numbers, DType dtype = DType::i64) {
  const auto size = static_cast<std::int64_t>(numbers.size());
  return Tensor<1, Int>::from_data(TensorData(std::move(numbers), {size}), {cpu(), dtype});
}

template <Kind K>
std::vector<std::int64_t> values(const Tensor<1, K>& x) {
  return x.to_data().template to_vec_as<std::int64_t>();
}

TEST(IntegerComparison, TakesFractions) {
  const auto x = ints({-1, 0, 1, 2});
  EXPECT_THAT(values(x.lower(0.5)), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(values(x.lower_equal(0.5)), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(values(x.greater(0.5)), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(values(x.greater_equal(0.5)), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(values(x.lower(-0.5)), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(values(x.greater_equal(-0.5)), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(values(x.equal(0.5)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(values(x.not_equal(0.5)), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(values(x.equal(1.0)), ElementsAre(0, 0, 1, 0));
}

TEST(IntegerComparison, TakesNumbersThatTheTensorCannotHold) {
  const auto x = ints({-128, 0, 127}, DType::i8);
  for (const Scalar large :
       {Scalar{300}, Scalar{1e30}, Scalar{std::numeric_limits<double>::infinity()}, Scalar{UINT64_MAX}}) {
    EXPECT_THAT(values(x.lower(large)), ElementsAre(1, 1, 1));
    EXPECT_THAT(values(x.lower_equal(large)), ElementsAre(1, 1, 1));
    EXPECT_THAT(values(x.greater(large)), ElementsAre(0, 0, 0));
    EXPECT_THAT(values(x.greater_equal(large)), ElementsAre(0, 0, 0));
    EXPECT_THAT(values(x.equal(large)), ElementsAre(0, 0, 0));
    EXPECT_THAT(values(x.not_equal(large)), ElementsAre(1, 1, 1));
  }
  const auto u = ints({0, 255}, DType::u8);
  EXPECT_THAT(values(u.greater(-1)), ElementsAre(1, 1));
  EXPECT_THAT(values(u.lower(-0.5)), ElementsAre(0, 0));
  EXPECT_THAT(values(u.equal(-1)), ElementsAre(0, 0));
  EXPECT_THAT(values(u.lower(255.5)), ElementsAre(1, 1));
}

TEST(IntegerComparison, IsExactForTheLargestNumbers) {
  const auto x = ints({INT64_MAX, INT64_MAX - 1, (std::int64_t{1} << 53) + 1});
  EXPECT_THAT(values(x.equal(INT64_MAX)), ElementsAre(1, 0, 0));
  EXPECT_THAT(values(x.equal(0x1p53)), ElementsAre(0, 0, 0));
  EXPECT_THAT(values(x.lower(0x1p63)), ElementsAre(1, 1, 1));
  EXPECT_THAT(values(x.lower(UINT64_MAX)), ElementsAre(1, 1, 1));
}

TEST(IntegerComparison, NothingIsOrderedWithNaN) {
  const auto x = ints({-1, 0});
  for (const auto& y : {x.lower(NAN), x.lower_equal(NAN), x.greater(NAN), x.greater_equal(NAN), x.equal(NAN)}) {
    EXPECT_THAT(values(y), ElementsAre(0, 0));
  }
  EXPECT_THAT(values(x.not_equal(NAN)), ElementsAre(1, 1));
}

TEST(IntegerClamp, BoundsBeyondTheTypeBoundNothing) {
  const auto x = ints({-128, -6, 0, 127}, DType::i8);
  EXPECT_THAT(values(x.clamp(-5, 300)), ElementsAre(-5, -5, 0, 127));
  EXPECT_THAT(values(x.clamp(-1e9, 1e9)), ElementsAre(-128, -6, 0, 127));
  EXPECT_THAT(values(ints({0, 7, 255}, DType::u8).clamp(-5, 300)), ElementsAre(0, 7, 255));
  EXPECT_THAT(values(ints({0, 7, 255}, DType::u8).clamp_max(-5)), ElementsAre(0, 0, 0));
  EXPECT_THAT(values(ints({-7, 7}).clamp(0, UINT64_MAX)), ElementsAre(0, 7));
}

TEST(IntegerClamp, KeepsWithinFractions) {
  EXPECT_THAT(values(ints({-3, 0, 1, 3}).clamp(-1.5, 2.5)), ElementsAre(-1, 0, 1, 2));
  EXPECT_THAT(test::error_of([] { (void)ints({1}).clamp_min(NAN); }),
              HasSubstr("clamp_min: nan is no whole number, the tensor is i64"));
}

TEST(IntegerArithmetic, TakesWholeNumbersOnly) {
  EXPECT_THAT(values(ints({1, 2}) * 3.0 + 1), ElementsAre(4, 7));
  EXPECT_THAT(test::error_of([] {
                (void)(ints({1, 2}) * 0.5);
              }),
              HasSubstr("mul: 0.5 is no whole number, the tensor is i64"));
  EXPECT_THAT(test::error_of([] { (void)(0.5 - ints({1, 2})); }), HasSubstr("integer_scalar_test.cc:"));
  EXPECT_THAT(test::error_of([] {
                (void)ints({1, 2}, DType::u8).div(-1);
              }),
              HasSubstr("div: -1 is no u8, which has 0 to 255"));
}

TEST(IntegerArithmetic, WrapsAsIntegersDo) {
  EXPECT_THAT(values(ints({0, 100}, DType::i8) + 300), ElementsAre(44, -112));
  EXPECT_THAT(values(ints({0, 5}, DType::u8) + -1), ElementsAre(255, 4));
  EXPECT_THAT(values(ints({0, 5}) + UINT64_MAX), ElementsAre(-1, 4));
}

TEST(IntegerFill, IsTowardZeroAndInRange) {
  EXPECT_THAT(values(Tensor<1, Int>::full({2}, -2.7, cpu())), ElementsAre(-2, -2));
  EXPECT_THAT(values(ints({1, 2}).mask_fill(ints({1, 2}).equal(2), 9.9)), ElementsAre(1, 9));
  EXPECT_THAT(test::error_of([] {
                (void)Tensor<1, Int>::full({2}, 300, {cpu(), DType::u8});
              }),
              HasSubstr("300 is no u8, which has 0 to 255 (at integer_scalar_test.cc:"));
  EXPECT_THAT(test::error_of([] { (void)ints({1}, DType::i8).mask_fill(ints({1}).equal(1), NAN); }),
              HasSubstr("nan is no i8"));
  EXPECT_THAT(test::error_of([] { (void)Tensor<1, Int>::full({2}, UINT64_MAX, cpu()); }),
              HasSubstr("18446744073709551615 is no i64"));
}

TEST(LargeNumbers, KeepTheirValueInEveryType) {
  const auto one = Tensor<1>::ones({1}, cpu());
  EXPECT_EQ((one * UINT64_MAX).into_scalar<float>(), 0x1p64f);
  EXPECT_EQ((one * INT64_MIN).into_scalar<float>(), -0x1p63f);
  EXPECT_EQ(Tensor<1>::full({1}, UINT64_MAX, {cpu(), DType::f64}).into_scalar<double>(), 0x1p64);
  const auto largest = Tensor<1, Int>::full({1}, UINT64_MAX, {cpu(), DType::u64});
  EXPECT_EQ(largest.to_data().as_slice<std::uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(values(largest.equal(UINT64_MAX)), std::vector<std::int64_t>{1});
  EXPECT_EQ(values(largest.greater(0x1p63)), std::vector<std::int64_t>{1});
}

// The same results as without capture, whatever the scalar of a call is.
TEST(IntegersInCapturedSteps, CompareAndClampByValue) {
  const auto x = ints({-2, 0, 1, 3});
  auto lower = capture(cpu(), [](const Tensor<1, Int>& v, Scalar bound) { return v.lower(bound).to_int(); });
  auto from = capture(cpu(), [](const Tensor<1, Int>& v, Scalar bound) { return v.clamp_min(bound); });
  auto to = capture(cpu(), [](const Tensor<1, Int>& v, Scalar bound) { return v.clamp_max(bound); });
  auto times = capture(cpu(), [](const Tensor<1, Int>& v, Scalar by) { return v * by; });
  for (const double number : {1.0, 2.0, 0.5, -0.5, 1e30, 7.0}) {
    EXPECT_EQ(values(lower(x, number)), values(x.lower(number))) << number;
    EXPECT_EQ(values(from(x, number)), values(x.clamp_min(number))) << number;
    EXPECT_EQ(values(to(x, number)), values(x.clamp_max(number))) << number;
  }
  for (const double number : {1.0, 2.0, 3.0}) EXPECT_EQ(values(times(x, number)), values(x * number));
  EXPECT_THAT(test::error_of([&] { (void)times(x, 0.5); }),
              HasSubstr("scalar: 0.5 is no whole number, the tensor is i64"));
  EXPECT_EQ(values(times(x, 4.0)), values(x * 4));
}

}  // namespace
}  // namespace burn
