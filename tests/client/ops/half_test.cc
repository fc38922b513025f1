// Intermediate values that overflow 16-bit floats though the result does not: sums, squares, counts.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ops/norms.h"
#include "client/tensor/linalg.h"
#include "client/tensor/tensor.h"

namespace burn {
namespace {

using ::testing::Each;
using ::testing::Pointwise;

const Device& cpu() {
  static const Device device{"cpu"};
  return device;
}

template <int D>
std::vector<float> values(const Tensor<D>& x) {
  return x.to_data().template to_vec_as<float>();
}

class Halves : public ::testing::TestWithParam<DType> {
 protected:
  template <int D>
  Tensor<D> filled(const Dims<D>& dims, double value, const Device& device = cpu()) const {
    return Tensor<D>::full(dims, value, {device, GetParam()});
  }
  // The numbers -6, 6, -6, ...
  static Tensor<1> alternating(std::int64_t size, const Device& device = cpu()) {
    return Tensor<1>::arange(0, size, device).remainder(2) * 12 - 6;
  }
  Tensor<1> spread(std::int64_t size, const Device& device = cpu()) const {
    return alternating(size, device).cast(GetParam());
  }
  // The distance between numbers near 1.
  float step() const { return GetParam() == DType::f16 ? 0x1p-10f : 0x1p-7f; }
};

TEST_P(Halves, HaveAMeanWhereTheirSumIsInfinite) {
  const auto x = filled<1>({2000}, 51);
  EXPECT_THAT(values(x.mean()), Each(51));
  EXPECT_THAT(values(x.mean_dim(0)), Each(51));
  EXPECT_THAT(values(filled<2>({2000, 3}, 51).mean_dim(0)), Each(51));
  EXPECT_THAT(values(filled<2>({3, 70'000}, 51).mean_dim(1)), Each(51));
}

TEST_P(Halves, HaveAMeanOfMoreElementsThanTheirLargestNumber) {
  const auto x = filled<1>({70'000}, 1, cpu().autodiff()).require_grad();
  const auto y = x.mean();
  EXPECT_EQ(values(y), std::vector<float>{1});
  EXPECT_THAT(values(*x.grad((y * 1024).backward())),
              Each(::testing::FloatNear(1024.0f / 70'000, 1024.0f / 70'000 * step())));
}

TEST_P(Halves, HaveAVarianceWhereTheirSquaresSumToInfinity) {
  EXPECT_THAT(values(spread(4096).var(0)), Each(::testing::FloatNear(36, 36 * step())));
}

TEST_P(Halves, SoftmaxOverManyElementsSumsToOne) {
  const auto y = client::softmax(filled<1>({70'000}, 0).value(), 0, {});
  const Tensor<1> wide{client::cast(y, DType::f32, {})};
  EXPECT_NEAR(values(wide.sum())[0], 1, 2 * step());
  const Tensor<1> logs{client::log_softmax(filled<1>({70'000}, 0).value(), 0, {})};
  EXPECT_THAT(values(logs), Each(::testing::FloatNear(-std::log(70'000.0f), 12 * step())));
}

TEST_P(Halves, HaveNormsWhereTheirSquaresAreInfinite) {
  const auto x = filled<1>({4}, 300);
  const auto norm = [](const Tensor<1>& v, double p) {
    return values(Tensor<1>{client::vector_norm(v.value(), p, 0, {})});
  };
  EXPECT_THAT(norm(x, 2), Each(::testing::FloatNear(600, 600 * step())));
  EXPECT_THAT(norm(x, 3), Each(::testing::FloatNear(476.2203f, 480 * step())));
  const Tensor<1> unit{client::vector_normalize(x.value(), 2, 0, 1e-12, {})};
  EXPECT_THAT(values(unit), Each(::testing::FloatNear(0.5f, step())));
  const Tensor<1> similar{client::cosine_similarity(x.value(), x.value(), 0, 1e-8, {})};
  EXPECT_THAT(values(similar), Each(::testing::FloatNear(1, step())));
}

TEST_P(Halves, ShareTheGradientOfAMaximumAmongManyEquals) {
  const auto x = filled<1>({70'000}, 3, cpu().autodiff()).require_grad();
  const auto expected = 1024.0f / 70'000;
  EXPECT_THAT(values(*x.grad((x.max() * 1024).backward())), Each(::testing::FloatNear(expected, expected * step())));
}

TEST_P(Halves, ScatterAddsUpManySmallNumbers) {
  const auto index = Tensor<1, Int>::zeros({2000}, cpu());
  EXPECT_THAT(values(filled<1>({1}, 0).scatter(0, index, filled<1>({2000}, 1))), Each(2000));
}

TEST_P(Halves, CountInWholeNumbers) {
  const auto x = Tensor<1>::arange_step(0, 1200, 4, {cpu(), GetParam()});
  const auto expected = Tensor<1, Int>::arange_step(0, 1200, 4, cpu()).to_float().cast(GetParam());
  EXPECT_EQ(values(x), values(expected));
}

INSTANTIATE_TEST_SUITE_P(Types, Halves, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(ir::name(info.param)); });

TEST(Mean, DividesSoThatTheMeanOfEqualsIsTheirNumber) {
  for (const std::int64_t n :
       {1, 3, 7, 10, 41, 49, 55, 93, 98, 103, 107, 161, 187, 197, 4099}) {  // for most of them, n * (1 / n) is not 1
    ASSERT_EQ(Tensor<1>::ones({n}, {cpu(), DType::f64}).mean().into_scalar<double>(), 1.0) << "of " << n;
    ASSERT_EQ(Tensor<1>::ones({n}, cpu()).mean().into_scalar<float>(), 1.0f) << "of " << n;
  }
}

}  // namespace
}  // namespace burn
