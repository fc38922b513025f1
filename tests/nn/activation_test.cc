// Activations and their gradients against formulas in double precision, at extreme points and where pieces meet.
#include "nn/activation/activation.h"

#include <cmath>
#include <limits>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;

namespace act = activation;

double sigma(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct Case {
  const char* name;
  std::function<Tensor<1>(const Tensor<1>&)> function;
  std::function<double(double)> reference;
};

std::vector<Case> cases() {
  return {
      {"relu", [](const auto& x) { return act::relu(x); }, [](double x) { return std::max(x, 0.0); }},
      {"relu6", [](const auto& x) { return act::relu6(x); }, [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {"sigmoid", [](const auto& x) { return act::sigmoid(x); }, sigma},
      {"log_sigmoid", [](const auto& x) { return act::log_sigmoid(x); }, [](double x) { return -softplus_of(-x); }},
      {"tanh", [](const auto& x) { return act::tanh(x); }, [](double x) { return std::tanh(x); }},
      {"gelu", [](const auto& x) { return act::gelu(x); },
       [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {"gelu_approximate", [](const auto& x) { return act::gelu_approximate(x); },
       [](double x) { return x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2; }},
      {"silu", [](const auto& x) { return act::silu(x); }, [](double x) { return x * sigma(x); }},
      {"mish", [](const auto& x) { return act::mish(x); }, [](double x) { return x * std::tanh(softplus_of(x)); }},
      {"softplus", [](const auto& x) { return act::softplus(x, 2); }, [](double x) { return softplus_of(2 * x) / 2; }},
      {"leaky_relu", [](const auto& x) { return act::leaky_relu(x, 0.1); },
       [](double x) { return x > 0 ? x : 0.1 * x; }},
      {"elu", [](const auto& x) { return act::elu(x, 1.5); }, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }},
      {"celu", [](const auto& x) { return act::celu(x, 2); },
       [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
      {"selu", [](const auto& x) { return act::selu(x); },
       [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); }},
      {"hardtanh", [](const auto& x) { return act::hardtanh(x, -2, 0.75); },
       [](double x) { return std::clamp(x, -2.0, 0.75); }},
      {"hard_sigmoid", [](const auto& x) { return act::hard_sigmoid(x); },
       [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"hard_swish", [](const auto& x) { return act::hard_swish(x); },
       [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"softsign", [](const auto& x) { return act::softsign(x); }, [](double x) { return x / (1 + std::abs(x)); }},
      {"tanhshrink", [](const auto& x) { return act::tanhshrink(x); }, [](double x) { return x - std::tanh(x); }},
      {"threshold", [](const auto& x) { return act::threshold(x, 0.6, -3); },
       [](double x) { return x > 0.6 ? x : -3; }},
      {"thresholded_relu", [](const auto& x) { return act::thresholded_relu(x); },
       [](double x) { return x > 1 ? x : 0; }},
      {"hard_shrink", [](const auto& x) { return act::hard_shrink(x, 0.7); },
       [](double x) { return std::abs(x) > 0.7 ? x : 0; }},
      {"soft_shrink", [](const auto& x) { return act::soft_shrink(x, 0.7); },
       [](double x) { return x > 0.7 ? x - 0.7 : (x < -0.7 ? x + 0.7 : 0); }},
      {"shrink", [](const auto& x) { return act::shrink(x, 0.7, 0.2); },
       [](double x) { return x > 0.7 ? x - 0.2 : (x < -0.7 ? x + 0.2 : 0); }},
  };
}

Tensor<1> doubles(const std::vector<double>& numbers, const Device& device) {
  return Tensor<1>::from_data(TensorData(numbers, {static_cast<std::int64_t>(numbers.size())}), {device, DType::f64});
}

// None of these points is a kink of a tested function.
const std::vector<double> kPoints = {-700, -20, -3.1, -1.3, -0.55, -1e-3, 1e-3, 0.5, 0.9, 2.2, 3.3, 6.5, 20, 700};

TEST(Activation, FollowsItsFormula) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(c.name);
    std::vector<double> expected;
    for (const double x : kPoints) expected.push_back(c.reference(x));
    const auto got = test::values(c.function(doubles(kPoints, cpu())));
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], 1e-12 * std::max(1.0, std::abs(expected[i]))) << "at " << kPoints[i];
    }
  }
}

TEST(Activation, HasTheRightGradientsAlsoFarOut) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto x = doubles(kPoints, ad()).require_grad();
    const auto gradients = c.function(x).sum().backward();
    const auto got = test::values(*x.grad(gradients));
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      const double step = 1e-6 * std::max(1.0, std::abs(kPoints[i]));
      const double want = (c.reference(kPoints[i] + step) - c.reference(kPoints[i] - step)) / (2 * step);
      EXPECT_NEAR(got[i], want, 1e-6) << "at " << kPoints[i];
    }
  }
}

TEST(Activation, SmoothOnesHaveTheirSlopeAtZero) {
  const auto slope = [](auto&& function) {
    const auto x = Tensor<1>::zeros({1}, ad()).require_grad();
    const auto gradients = function(x).sum().backward();
    return test::values(*x.grad(gradients))[0];
  };
  EXPECT_EQ(slope([](const auto& x) { return act::softplus(x); }), 0.5);
  EXPECT_EQ(slope([](const auto& x) { return act::log_sigmoid(x); }), 0.5);
  EXPECT_EQ(slope([](const auto& x) { return act::elu(x); }), 1);
  EXPECT_EQ(slope([](const auto& x) { return act::softsign(x); }), 1);
  EXPECT_EQ(slope([](const auto& x) { return act::mish(x); }), std::tanh(std::log(2.0f)));
}

TEST(Activation, PassesNaNThrough) {
  const auto nan = doubles({std::numeric_limits<double>::quiet_NaN()}, cpu());
  for (const char* name : {"relu", "softplus", "sigmoid", "gelu", "hardtanh", "mish"}) {
    for (const auto& c : cases()) {
      if (std::string{c.name} != name) continue;
      EXPECT_TRUE(std::isnan(test::values(c.function(nan))[0])) << name;
    }
  }
}

TEST(Activation, SoftmaxOfNothingIsNothing) {
  const auto x = Tensor<2>::zeros({0, 4}, cpu());
  EXPECT_EQ(act::softmax(x, 0).dims(), x.dims());
  EXPECT_EQ(act::log_softmax(x, 0).dims(), x.dims());
  EXPECT_EQ(act::quiet_softmax(x, 0).dims(), x.dims());
  cpu().sync();
}

TEST(Activation, SoftmaxSumsToOneAlongItsDim) {
  const auto x = Tensor<2>::from_data({{1, 2, 3}, {100, 100, -100}}, cpu());
  const double e1 = std::exp(1), e2 = std::exp(2), e3 = std::exp(3), sum = e1 + e2 + e3;
  expect_near(act::softmax(x, 1), {e1 / sum, e2 / sum, e3 / sum, 0.5, 0.5, 0});
  expect_near(act::log_softmax(x, -1), {1 - std::log(sum), 2 - std::log(sum), 3 - std::log(sum), -std::log(2),
                                        -std::log(2), -200 - std::log(2)});
  expect_near(act::softmax(x, 0), {0, 0, 1, 1, 1, 0});
  expect_near(act::softmin(-x, 1), {e1 / sum, e2 / sum, e3 / sum, 0.5, 0.5, 0});
  expect_near(act::quiet_softmax(x, 1), {e1 / (1 + sum), e2 / (1 + sum), e3 / (1 + sum), 0.5, 0.5, 0});
  expect_near(act::quiet_softmax(Tensor<1>::from_data({-100, -200}, cpu()), 0), {0, 0});
}

TEST(Activation, AlongADimHasTheRightGradients) {
  const auto x = test::spread_tensor<2>({3, 4}, cpu());
  test::expect_gradients(nn::Relu{}, x, [](const auto&, const auto& v) { return act::softmax(v, 1); });
  test::expect_gradients(nn::Relu{}, x, [](const auto&, const auto& v) { return act::log_softmax(v, 0); });
  test::expect_gradients(nn::Relu{}, x, [](const auto&, const auto& v) { return act::quiet_softmax(v, -1); });
  test::expect_gradients(nn::Relu{}, x, [](const auto&, const auto& v) { return act::glu(v, 1); });
}

TEST(Activation, GluGatesTheFirstHalfByTheSecond) {
  const auto x = Tensor<2>::from_data({{1, 2, 0, 30}}, cpu());
  expect_near(act::glu(x, 1), {0.5, 2});
  EXPECT_EQ(error_of([&] { (void)act::glu(x, 0); }), "glu: dim 0 of f32[1, 4] has an odd size, 1");
}

TEST(Activation, PReluLearnsItsSlope) {
  const auto one = nn::PReluConfig{}.init(cpu());
  expect_near(one(Tensor<1>::from_data({-4, 0, 4}, cpu())), {-1, 0, 4});
  nn::PRelu two = nn::PReluConfig{.num_parameters = 2}.init(cpu());
  two.alpha = Tensor<1>::from_data({0.5f, 2}, cpu());
  expect_near(two(Tensor<3>::from_data({{{-1, 1}, {-1, 1}}}, cpu())), {-0.5, 1, -2, 1});
  test::expect_gradients(two, test::spread_tensor<3>({2, 2, 3}, cpu()),
                         [](const auto& m, const auto& x) { return m(x); });
  EXPECT_EQ(error_of([&] {
              (void)two(Tensor<2>::ones({2, 3}, cpu()));
            }),
            "prelu: alpha f32[2] has neither one slope nor one for each channel of f32[2, 3]");
}

TEST(Activation, ModulesAreTheFunctions) {
  const auto x = test::spread_tensor<3>({1, 2, 3}, cpu());
  const auto expect_same = [&](const auto& module, const Tensor<3>& y) {
    EXPECT_EQ(test::values(module(x)), test::values(y));
  };
  expect_same(nn::Relu{}, act::relu(x));
  expect_same(nn::Gelu{}, act::gelu(x));
  expect_same(nn::Gelu{.approximate = true}, act::gelu_approximate(x));
  expect_same(nn::Sigmoid{}, act::sigmoid(x));
  expect_same(nn::Tanh{}, act::tanh(x));
  expect_same(nn::SiLU{}, act::silu(x));
  expect_same(nn::LeakyRelu{.negative_slope = 0.3}, act::leaky_relu(x, 0.3));
  expect_same(nn::Softplus{.beta = 3}, act::softplus(x, 3));
  expect_same(nn::Elu{.alpha = 2}, act::elu(x, 2));
  expect_same(nn::HardSigmoid{}, act::hard_sigmoid(x));
  expect_same(nn::SoftShrink{.lambda = 0.2}, act::soft_shrink(x, 0.2));
}

TEST(Activation, GeluIsExactAtFarPoints) {
  for (const auto dtype : {DType::f32, DType::f64}) {
    const auto x = Tensor<1>::from_data({-1e6, -1e4, -1000, 20, 1000, 1e6}, {ad(), dtype}).require_grad();
    for (const auto& function : {act::gelu<1>, act::gelu_approximate<1>}) {
      const auto y = function(x, Loc::current());
      EXPECT_THAT(test::values(y), ::testing::ElementsAre(0, 0, 0, 20, 1000, 1e6));
      EXPECT_THAT(test::values(*x.grad(y.sum().backward())), ::testing::ElementsAre(0, 0, 0, 1, 1, 1));
    }
  }
}

TEST(Activation, ErfIsOneFarOut) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto y = Tensor<1>::from_data({-kInfinity, -10, -0.0, 0.0, 10, kInfinity, NAN}, cpu()).erf();
  EXPECT_THAT(test::values(y), ::testing::ElementsAre(-1, -1, 0, 0, 1, 1, ::testing::IsNan()));
}

}  // namespace
}  // namespace burn
