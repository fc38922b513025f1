// Layers and losses over 16-bit floats: sums, squares and counts are computed in f32, results and gradients are rounded
// once.
#include <cmath>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::values;
using ::testing::Each;

class NnOverHalves : public ::testing::TestWithParam<DType> {
 protected:
  double step() const { return GetParam() == DType::f16 ? 0x1p-10 : 0x1p-7; }  // the distance of numbers near 1

  // The numbers -6, 6, -6, ... in any shape.
  template <int D>
  Tensor<D> alternating(const Dims<D>& dims, const Device& device = cpu()) const {
    const ir::Dims& shape = dims;
    const auto line = Tensor<1>::arange(0, ir::num_elements(shape), device).remainder(2) * 12 - 6;
    return line.cast(GetParam()).template reshape<D>(dims);
  }
  // The layer with its parameters cast to the tested dtype.
  template <typename M>
  M as_dtype(M module) const {
    module.for_each_slot(
        [&](const std::string&, Slot& slot) { slot.value = client::cast(slot.value, GetParam(), {}); });
    return module;
  }
  // Expects -1, 1, -1, ...
  template <int D>
  void expect_normalised(const Tensor<D>& y) const {
    EXPECT_EQ(y.dtype(), GetParam());
    const auto numbers = values(y);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_NEAR(numbers[i], i % 2 == 0 ? -1 : 1, step()) << "element " << i;
    }
  }
};

TEST_P(NnOverHalves, NormalisesManyNumbers) {
  const auto layer = nn::LayerNormConfig{.d_model = 4096}.init(cpu());
  expect_normalised(layer(alternating<2>({2, 4096})));
  expect_normalised(as_dtype(layer)(alternating<2>({2, 4096})));
  const auto rms = nn::RmsNormConfig{.d_model = 4096}.init(cpu());
  expect_normalised(rms(alternating<2>({2, 4096})));
  expect_normalised(as_dtype(rms)(alternating<2>({2, 4096})));
  expect_normalised(
      as_dtype(nn::GroupNormConfig{.num_groups = 2, .num_channels = 4}.init(cpu()))(alternating<3>({2, 4, 2048})));
  expect_normalised(as_dtype(nn::InstanceNormConfig{.num_channels = 4}.init(cpu()))(alternating<3>({2, 4, 4096})));
  expect_normalised(as_dtype(nn::BatchNormConfig{.num_features = 2}.init(ad()))(alternating<3>({4, 2, 4096}, ad())));
}

TEST_P(NnOverHalves, NormalisesSmallNumbers) {  // with an epsilon that is 0 in f16
  const auto x = alternating<2>({1, 4096}) * 0.01;
  expect_normalised(as_dtype(nn::LayerNormConfig{.d_model = 4096, .epsilon = 1e-9}.init(cpu()))(x));
}

TEST_P(NnOverHalves, GradientsOfNormsAreFinite) {
  const auto layer = as_dtype(nn::LayerNormConfig{.d_model = 4096}.init(ad()));
  const auto x = alternating<2>({2, 4096}, ad()).require_grad();
  const auto gradient = *x.grad((layer(x) * x.detach()).sum().backward());
  EXPECT_EQ(gradient.dtype(), GetParam());
  EXPECT_THAT(values(gradient), Each(::testing::DoubleNear(0, 0.05)));  // norm(x) does not depend on the scale of x
}

TEST_P(NnOverHalves, BatchStatisticsMoveByAHundredth) {
  auto layer = as_dtype(nn::BatchNormConfig{.num_features = 2, .momentum = 0.01}.init(ad()));
  (void)layer(alternating<3>({4, 2, 4096}, ad()));
  EXPECT_THAT(values(Tensor<1>{layer.running_var.slot().value}),
              Each(::testing::DoubleNear(0.99 + 0.36, 1.35 * step())));
}

TEST_P(NnOverHalves, MeanSquaredErrorsAreFinite) {
  const auto x = alternating<1>({4096}, ad()).require_grad();
  const auto zero = x.detach() * 0;
  EXPECT_THAT(values(nn::MseLoss{}(x, zero)), Each(36));
  const auto one =
      (alternating<1>({4096}) * 0).slice_assign({s(0, 1)}, alternating<1>({1}) * 50);  // its square is 90,000
  EXPECT_THAT(values(nn::MseLoss{}(one, one * 0)), Each(::testing::DoubleNear(90'000.0 / 4096, 22 * step())));
  const auto many = Tensor<1>::full({70'000}, 3, {ad(), GetParam()}).require_grad();
  const auto loss = nn::MseLoss{}(many, many.detach() * 0) * 1024;
  EXPECT_THAT(values(*many.grad(loss.backward())), Each(::testing::DoubleNear(6 * 1024.0 / 70'000, 0.1 * step())));
}

TEST_P(NnOverHalves, CrossEntropyOverManyClassesAndSamples) {
  const auto wide = Tensor<2>::zeros({2, 70'000}, {cpu(), GetParam()});
  const auto first = Tensor<1, Int>::zeros({2}, cpu());
  EXPECT_THAT(values(nn::CrossEntropyLoss{}(wide, first)),
              Each(::testing::DoubleNear(std::log(70'000.0), 12 * step())));
  const auto tall = Tensor<2>::zeros({70'000, 2}, {ad(), GetParam()}).require_grad();
  const auto loss = nn::CrossEntropyLoss{}(tall, Tensor<1, Int>::zeros({70'000}, cpu()));
  EXPECT_THAT(values(loss), Each(::testing::DoubleNear(std::log(2.0), step())));
  const auto gradient = values(*tall.grad((loss * 1024).backward()));
  EXPECT_NEAR(gradient[0], -512.0 / 70'000, 0.01 * step());
  EXPECT_NEAR(gradient[1], 512.0 / 70'000, 0.01 * step());
}

TEST_P(NnOverHalves, BinaryCrossEntropyOverManySamples) {
  const auto loss = nn::BinaryCrossEntropyLossConfig{.logits = true}.init(cpu());
  const auto x = Tensor<1>::zeros({200'000}, {cpu(), GetParam()});
  EXPECT_THAT(values(loss(x, Tensor<1, Int>::zeros({200'000}, cpu()))),
              Each(::testing::DoubleNear(std::log(2.0), step())));
}

TEST_P(NnOverHalves, DropoutKeepsItsShareAndTheMean) {
  const Device device = ad();
  device.seed(3);
  const auto x = Tensor<1>::ones({1 << 20}, {device, GetParam()});
  const auto y = nn::DropoutConfig{.prob = 0.001}.init()(x).inner();
  const double kept = values(y.greater(0).to_float().mean())[0];
  EXPECT_NEAR(kept, 0.999, 6 * std::sqrt(0.001 / (1 << 20)));
}

TEST_P(NnOverHalves, ActivationsAndTheirGradientsAtFarPoints) {
  const auto x = Tensor<1>::from_data({-300, 300}, {ad(), GetParam()}).require_grad();
  const std::vector<std::function<Tensor<1>(const Tensor<1>&)>> functions{
      [](const auto& v) { return activation::gelu(v); }, [](const auto& v) { return activation::gelu_approximate(v); },
      [](const auto& v) { return activation::silu(v); }, [](const auto& v) { return activation::mish(v); },
      [](const auto& v) { return activation::softplus(v); }};
  for (const auto& function : functions) {
    EXPECT_THAT(values(function(x)), ::testing::ElementsAre(0, 300));
    EXPECT_THAT(values(*x.grad(function(x).sum().backward())), ::testing::ElementsAre(0, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NnOverHalves, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(ir::name(info.param)); });

}  // namespace
}  // namespace burn
