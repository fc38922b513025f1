// The tensor API on the CPU backend: the results of its functions.
#include "client/tensor/tensor.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn {
namespace {

using ::testing::ElementsAre;

const Device& device() {
  static const Device cpu{"cpu"};
  return cpu;
}

template <int D, Kind K>
auto values(const Tensor<D, K>& x) {
  return x.to_data().template to_vec_as<std::conditional_t<std::same_as<K, Float>, float, std::int64_t>>();
}

TEST(Tensor, AddsElementByElement) {
  const auto a = Tensor<2>::from_data({{2, 3}, {4, 5}}, device());
  EXPECT_THAT(values(a + Tensor<2>::ones_like(a)), ElementsAre(3, 4, 5, 6));
}

TEST(Tensor, BroadcastsSizesOfOne) {
  const auto column = Tensor<2>::from_data({{1}, {2}}, device());
  const auto row = Tensor<2>::from_data({{10, 20, 30}}, device());
  EXPECT_THAT(values(column + row), ElementsAre(11, 21, 31, 12, 22, 32));
}

TEST(Tensor, TakesScalarsOnEitherSide) {
  const auto x = Tensor<1>::from_data({1, 2, 4}, device());
  EXPECT_THAT(values(8 / x - 1), ElementsAre(7, 3, 1));
  EXPECT_THAT(values(-x * 2), ElementsAre(-2, -4, -8));
}

TEST(Tensor, MultipliesMatricesAlsoTransposedOnes) {
  const auto a = Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device());
  EXPECT_THAT(values(a.matmul(a.t())), ElementsAre(14, 32, 32, 77));
  EXPECT_THAT(values(a.t().matmul(a)), ElementsAre(17, 22, 27, 22, 29, 36, 27, 36, 45));
}

TEST(Tensor, BatchesOfMatricesBroadcast) {
  const auto a = Tensor<3>::from_data({{{1, 2}}, {{3, 4}}}, device());  // [2, 1, 2]
  const auto b = Tensor<3>::from_data({{{1}, {10}}}, device());         // [1, 2, 1]
  EXPECT_THAT(values(a.matmul(b)), ElementsAre(21, 43));
}

TEST(Tensor, SlicesWithStepsFromEitherEnd) {
  const auto x = Tensor<1, Int>::arange(0, 10, device());
  EXPECT_THAT(values(x.slice({s(2, 8, 2)})), ElementsAre(2, 4, 6));
  EXPECT_THAT(values(x.slice({s(2, 8, -2)})), ElementsAre(7, 5, 3));
  EXPECT_THAT(values(x.slice({s(-3)})), ElementsAre(7, 8, 9));
  EXPECT_THAT(values(x.slice_assign({s(0, 3)}, x.slice({s(7)}))), ElementsAre(7, 8, 9, 3, 4, 5, 6, 7, 8, 9));
}

TEST(Tensor, ReducesOverADimOrOverEverything) {
  const auto x = Tensor<2>::from_data({{1, 5, 3}, {7, 2, 4}}, device());
  EXPECT_THAT(values(x.sum()), ElementsAre(22));
  EXPECT_THAT(values(x.sum_dim(0)), ElementsAre(8, 7, 7));
  EXPECT_THAT(values(x.mean_dim(-1)), ElementsAre(3, 13.0f / 3));
  EXPECT_THAT(values(x.max_dim(1)), ElementsAre(5, 7));
  EXPECT_THAT(values(x.argmax(1)), ElementsAre(1, 0));
  EXPECT_THAT(values(x.cumsum(1)), ElementsAre(1, 6, 9, 7, 9, 13));
}

TEST(Tensor, SelectsRowsAndGathersElements) {
  const auto x = Tensor<2>::from_data({{1, 2}, {3, 4}, {5, 6}}, device());
  EXPECT_THAT(values(x.select(0, Tensor<1, Int>::from_data({2, 0, 2}, device()))), ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THAT(values(x.gather(1, Tensor<2, Int>::from_data({{1}, {0}, {1}}, device()))), ElementsAre(2, 3, 6));
}

TEST(Tensor, AnIndexOutOfRangeIsReportedWhenTheResultIsRead) {
  const auto x = Tensor<1>::from_data({1, 2, 3}, device());
  const auto y = x.select(0, Tensor<1, Int>::from_data({12}, device())) + 1;
  try {
    (void)y.to_data();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("12"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("tensor_test.cc:"));
  }
  EXPECT_THAT(values(x + 1), ElementsAre(2, 3, 4));  // other results are not lost
}

TEST(Tensor, MasksAndComparisons) {
  const auto x = Tensor<1>::from_data({1, 5, 3}, device());
  const auto mask = x.greater(2);
  EXPECT_THAT(values(mask), ElementsAre(0, 1, 1));
  EXPECT_THAT(values(x.mask_fill(mask & !x.equal(3), 0)), ElementsAre(1, 0, 3));
}

TEST(Tensor, TheSignOfNaNIsZero) {
  for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const auto x = Tensor<1>::from_data({-2, 0, 3, NAN}, {device(), dtype});
    EXPECT_THAT(values(x.sign()), ElementsAre(-1, 0, 1, 0));
  }
}

TEST(Tensor, ConcatenatesStacksAndRepeats) {
  const auto x = Tensor<1>::from_data({1, 2}, device());
  EXPECT_THAT(values(Tensor<1>::cat({x, x * 10}, 0)), ElementsAre(1, 2, 10, 20));
  EXPECT_THAT(values(Tensor<1>::stack({x, x * 10}, 1)), ElementsAre(1, 10, 2, 20));
  EXPECT_THAT(values(x.repeat({2})), ElementsAre(1, 2, 1, 2));
}

TEST(Tensor, OneHotPutsAOneAtEachClass) {
  const auto classes = Tensor<1, Int>::from_data({2, 0}, device());
  EXPECT_THAT(values(classes.one_hot(3)), ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST(Tensor, TheSameSeedGivesTheSameNumbers) {
  device().seed(42);
  const auto a = values(Tensor<1>::random({100}, Distribution::normal(0, 1), device()));
  device().seed(42);
  EXPECT_EQ(a, values(Tensor<1>::random({100}, Distribution::normal(0, 1), device())));
  EXPECT_NE(a, values(Tensor<1>::random({100}, Distribution::normal(0, 1), device())));
}

TEST(Tensor, PrintsNumbersShapeDtypeAndDevice) {
  std::ostringstream out;
  out << Tensor<2>::from_data({{3, 4}, {5, 6}}, device());
  EXPECT_THAT(out.str(), ::testing::HasSubstr("f32[2, 2] on cpu"));
}

TEST(Tensor, ReadsAreFutures) {
  auto x = Tensor<1>::from_data({1}, device());
  std::vector<std::future<TensorData>> reads;
  for (int i = 0; i < 10; ++i) {
    x = x * 2;
    reads.push_back(x.to_data_async());
  }
  EXPECT_EQ(reads.back().get().to_vec<float>()[0], 1024.0f);
  EXPECT_EQ(reads.front().get().to_vec<float>()[0], 2.0f);
}

TEST(Tensor, IntoScalarWantsOneElement) {
  EXPECT_EQ(Tensor<1>::from_data({1.5f}, device()).into_scalar<double>(), 1.5);
  EXPECT_THROW((void)Tensor<1>::zeros({2}, device()).into_scalar<float>(), Error);
}

}  // namespace
}  // namespace burn
