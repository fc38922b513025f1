// Order statistics, sums of exponentials, sampling, Einstein sums; reads of several tensors; operators that users
// expect.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tensor/functions.h"
#include "client/tensor/transaction.h"
#include "tests/client/tensor/errors.h"

namespace burn {
namespace {

using test::message_of;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::NanSensitiveFloatEq;

constexpr float kInf = std::numeric_limits<float>::infinity();

template <int D>
std::vector<float> values(const Tensor<D>& x) {
  return x.template to_vec_as<float>();
}

TEST(Statistics, MedianIsTheLowerMiddleAndShowsNaN) {
  const auto x = Tensor<2>::from_data({{3, 1, 2, 4}, {1, NAN, 0, NAN}}, "cpu");
  const auto [median, where] = x.median_with_indices(1);
  EXPECT_THAT(values(median), ElementsAre(2, NanSensitiveFloatEq(NAN)));
  EXPECT_THAT(where.to_vec_as<int>(), ElementsAre(2, 1));
  EXPECT_THAT(values(Tensor<1, Int>::from_data({7, 5}, "cpu").median(0).to_float()), ElementsAre(5));
  EXPECT_THAT(message_of([] { (void)Tensor<1>::zeros({0}, "cpu").median(0); }), HasSubstr("median"));
}

TEST(Statistics, ExtremesComeWithTheirFirstPlace) {
  const auto x = Tensor<2>::from_data({{1, 5, 5}, {2, NAN, 7}}, "cpu");
  const auto [most, where] = x.max_dim_with_indices(1);
  EXPECT_THAT(values(most), ElementsAre(5, NanSensitiveFloatEq(NAN)));
  EXPECT_THAT(where.to_vec_as<int>(), ElementsAre(1, 1));
  EXPECT_THAT(values(x.slice({s(0, 1)}).max_abs_dims({0, 1})), ElementsAre(5));
}

TEST(Statistics, SumsOfExponentialsKeepTheirRange) {
  const auto x = Tensor<2>::from_data({{1000, 1000}, {-1000, -kInf}, {-kInf, -kInf}, {kInf, 0}}, "cpu");
  EXPECT_THAT(values(x.logsumexp(1)), ElementsAre(FloatEq(1000 + std::log(2.f)), -1000, -kInf, kInf));
  EXPECT_THAT(values(Tensor<2>::zeros({2, 0}, "cpu").logsumexp(1)), Each(-kInf));
  // A large later element does not change the earlier sums.
  const auto y = Tensor<1>::from_data({-200, -200, 300, -kInf, 300}, "cpu").logcumsumexp(0);
  const float two = std::log(2.f);
  EXPECT_THAT(values(y), ElementsAre(-200, FloatEq(-200 + two), 300, 300, FloatEq(300 + two)));
  EXPECT_THAT(values(Tensor<1>::from_data({-kInf, 1, NAN, 1}, "cpu").logcumsumexp(0)),
              ElementsAre(-kInf, 1, NanSensitiveFloatEq(NAN), NanSensitiveFloatEq(NAN)));
}

TEST(Statistics, HalfPrecisionAddsInSingle) {
  const auto x = Tensor<1>::full({4096}, 1, {"cpu", DType::f16});
  EXPECT_EQ(x.logsumexp(0).dtype(), DType::f16);
  EXPECT_THAT(values(x.logsumexp(0)), ElementsAre(FloatNear(9.3177f, 5e-3f)));
  EXPECT_THAT(values(x.dot(x)), ElementsAre(4096));
}

TEST(Statistics, TheMeanOfNarrowIntegersIsAmongThem) {
  const auto mean_of = [](std::int64_t number, std::int64_t count, DType dtype) {
    return Tensor<1, Int>::full({count}, number, {"cpu", dtype}).mean().item();
  };
  EXPECT_EQ(mean_of(200, 1000, DType::u8), 200);  // neither sum nor count is a u8
  EXPECT_EQ(mean_of(-100, 1000, DType::i8), -100);
  EXPECT_EQ(mean_of(-30000, 70000, DType::i16), -30000);
  EXPECT_EQ(mean_of(2'000'000'000, 3, DType::i32), 2'000'000'000);
  EXPECT_EQ(mean_of(4'000'000'000, 3, DType::u32), 4'000'000'000);
  const auto pixels = Tensor<2, Int>::from_ints({{250, 253}, {-7, 0}}, {"cpu", DType::i16});
  EXPECT_THAT(pixels.mean_dim(1).to_vec_as<int>(), ElementsAre(251, -3));  // toward zero
  EXPECT_EQ(pixels.mean_dims({0, 1}).item(), 124);
  EXPECT_EQ(pixels.mean().dtype(), DType::i16);
}

TEST(Statistics, ClosenessTakesInfinitiesAsEqualAndNaNAsFar) {
  const auto x = Tensor<1>::from_data({1, kInf, NAN, kInf}, "cpu"),
             y = Tensor<1>::from_data({1.000001f, kInf, NAN, 1}, "cpu");
  EXPECT_THAT(x.is_close(y).to_vec_as<int>(), ElementsAre(1, 1, 0, 0));
  EXPECT_FALSE(x.all_close(y));
}

TEST(Statistics, CovarianceDividesAsAsked) {
  const auto x = Tensor<2>::from_data({{1, 2}, {3, 6}, {5, 4}}, "cpu");
  EXPECT_THAT(values(x.cov(0)), ElementsAre(4, 2, 2, 4));
  EXPECT_THAT(values(x.t().cov(1, 0)),
              ElementsAre(FloatEq(8 / 3.f), FloatEq(4 / 3.f), FloatEq(4 / 3.f), FloatEq(8 / 3.f)));
}

TEST(Statistics, SamplesFollowTheWeights) {
  const Device device{"cpu"};
  device.seed(7);
  const auto weights = Tensor<2>::from_data({{0, 1, 3, 0}, {2, 0, 0, 0}}, device);
  const auto drawn = weights.categorical(4000);
  EXPECT_THAT(values(drawn.slice({s(1)}).to_float()), Each(0));
  const auto first = drawn.slice({s(0, 1)}).to_float();
  EXPECT_TRUE((first >= 1).all().item() && (first <= 2).all().item());
  EXPECT_NEAR(first.mean().item(), 1.75, 0.04);  // five standard deviations
  const auto distinct = Tensor<1>::from_data({1, 0, 2, 5}, device).multinomial(4).sort(0);
  EXPECT_THAT(distinct.to_vec_as<int>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Tensor<1>::from_data({0, 0, 1, 0}, device).multinomial(1).to_vec_as<int>(), ElementsAre(2));
  EXPECT_THAT(message_of([&] { (void)weights.multinomial(5); }), HasSubstr("5 samples without replacement"));
}

TEST(Einsum, DoesProductsSumsAndDiagonals) {
  const auto a = Tensor<2>::from_data({{1, 2}, {3, 4}}, "cpu"), b = Tensor<2>::from_data({{5, 6}, {7, 8}}, "cpu");
  const auto v = Tensor<1>::from_data({1, 10}, "cpu");
  EXPECT_THAT(values(einsum<2>("ij,jk->ik", a, b)), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(values(einsum<2>("ij,jk", a, b)), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(values(einsum<2>("ij->ji", a)), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(values(einsum<1>("ii->i", a)), ElementsAre(1, 4));
  EXPECT_THAT(values(einsum<1>("ii", a)), ElementsAre(5));
  EXPECT_THAT(values(einsum<1>("ij->", a)), ElementsAre(10));
  EXPECT_THAT(values(einsum<2>("i,j->ij", v, v)), ElementsAre(1, 10, 10, 100));
  EXPECT_THAT(values(einsum<1>("i,ij,j->", v, a, v)), ElementsAre(1 + 20 + 30 + 400));
  EXPECT_THAT(values(einsum<3>("...ij,...jk->...ik", a.unsqueeze<3>(), b.unsqueeze<3>())), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(values(einsum<2>("ij,kj->ki", Tensor<2>::zeros({2, 0}, "cpu"), Tensor<2>::zeros({1, 0}, "cpu"))),
              Each(0));
}

TEST(Einsum, SaysWhatDoesNotFit) {
  const auto a = Tensor<2>::zeros({2, 3}, "cpu");
  EXPECT_THAT(message_of([&] { (void)einsum<2>("ij,jk->ik", a, a); }), HasSubstr("label j has sizes 3 and 2"));
  EXPECT_THAT(message_of([&] { (void)einsum<2>("ij->ik", a); }), HasSubstr("no operand has the label k"));
  EXPECT_THAT(message_of([&] { (void)einsum<2>("i->i", a); }), HasSubstr("does not fit f32[2, 3]"));
  EXPECT_THAT(message_of([&] { (void)einsum<2>("ij,ij->ij", a); }), HasSubstr("2 terms for 1 tensors"));
  EXPECT_THAT(message_of([&] { (void)einsum<1>("ij->ij", a); }), HasSubstr("statistics_test.cc"));
}

TEST(Transaction, ReadsSeveralInOrder) {
  const auto x = Tensor<1>::from_data({1, 2}, "cpu");
  Transaction transaction;
  for (int i = 0; i < 5; ++i) transaction.add(x * i);
  const auto data = transaction.execute();
  ASSERT_EQ(data.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(data[i].to_vec<float>()[1], 2.f * static_cast<float>(i));
  EXPECT_TRUE(transaction.execute().empty());
  const auto bad = x.select(0, Tensor<1, Int>::from_data({5}, "cpu"));
  EXPECT_FALSE(Transaction{}.add(x).add(bad).try_execute().ok());
}

TEST(Operators, ChangeAVariableNotItsCopies) {
  auto x = Tensor<1>::from_data({1, 2}, "cpu");
  const auto before = x;
  x += x;
  x *= 2;
  EXPECT_THAT(values(x), ElementsAre(4, 8));
  EXPECT_THAT(values(before), ElementsAre(1, 2));
  EXPECT_THAT((x > 4).to_vec_as<int>(), ElementsAre(0, 1));
  EXPECT_THAT((before <= before).to_vec_as<int>(), ElementsAre(1, 1));
}

TEST(Backward, OfMoreThanANumberNeedsTheGradient) {
  const auto x = Tensor<1>::from_data({1, 2}, Device{"cpu"}.autodiff()).require_grad();
  EXPECT_THAT(message_of([&] { (void)x.square().backward(); }), HasSubstr("f32[2] is not one number"));
  const auto gradients = x.square().backward(Tensor<1>::from_data({1, 10}, "cpu"));
  EXPECT_THAT(values(x.grad(gradients).value_or(Tensor<1>{})), ElementsAre(2, 40));
  EXPECT_THAT(message_of([&] { (void)x.square().backward(Tensor<1>::ones({3}, "cpu")); }),
              HasSubstr("the gradient is f32[3]"));
}

TEST(ToDevice, TakesNumbersButNoTape) {
  const auto x = Tensor<1>::from_data({1, 2}, "cpu");
  const auto other = Device::new_session("cpu");
  EXPECT_THAT(values(x.to_device(other)), ElementsAre(1, 2));
  EXPECT_EQ(x.to_device(other).device(), other);
  const auto leaf = x.to_device(Device{"cpu"}.autodiff()).require_grad();
  EXPECT_EQ(leaf.to_device(Device{"cpu"}).device(), Device{"cpu"});
  EXPECT_THAT(message_of([&] { (void)leaf.to_device(other); }), HasSubstr("detach()"));
}

}  // namespace
}  // namespace burn
