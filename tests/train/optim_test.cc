// Optimizers, against the reference vectors and by hand.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/train/tiny.h"
#include "tests/train/vectors.h"

namespace burn {
namespace {

using optim::GradientClippingConfig;
using optim::ModuleOptimizer;

// One parameter of any shape.
struct Single {
  Param<1> weight;
  BURN_MODULE(Single, weight)
};

Tensor<1> flat(const std::vector<float>& values, const Device& device) {
  return Tensor<1>::from_data(TensorData(values, {static_cast<std::int64_t>(values.size())}), device);
}

// Takes a step with `gradient`, which is the gradient of sum(weight * gradient).
Single step(optim::Optimizer<Single>& optim, Single module, const std::vector<float>& gradient, double lr) {
  const auto loss = (module.weight.val() * flat(gradient, module.weight.val().device())).sum();
  return optim.step(lr, std::move(module), GradientsParams::from_grads(loss.backward(), module));
}

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

ModuleOptimizer optimizer_of(const test::Vector& v) {
  if (v.op == "optim_sgd") {
    optim::SgdConfig config{.weight_decay = v.number("weight_decay")};
    if (v.number("momentum") != 0) {
      config.momentum = {v.number("momentum"), v.number("dampening"), v.flag("nesterov")};
    }
    return config;
  }
  const auto make = [&]<typename Config>(Config config) -> ModuleOptimizer {
    config.beta_1 = v.number("beta_1");
    config.beta_2 = v.number("beta_2");
    config.epsilon = v.number("epsilon");
    config.weight_decay = v.number("weight_decay");
    config.amsgrad = v.flag("amsgrad");
    return config;
  };
  return v.op == "optim_adam" ? make(optim::AdamConfig{}) : make(optim::AdamWConfig{});
}

class Optimizer : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();

  void expect_close(const Single& module, const std::vector<double>& want, double rtol, double atol,
                    const std::string& what) {
    const auto got = module.weight.val().to_data().to_vec<float>();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], atol + rtol * std::abs(want[i])) << what << " at " << i;
    }
  }
};

TEST_F(Optimizer, FollowsTheReferenceVectors) {
  std::size_t cases = 0;
  for (const char* op : {"optim_sgd", "optim_adam"}) {  // the prefix optim_adam includes optim_adamw
    for (const auto& vector : test::vectors_of("optim.jsonl", op)) {
      optim::Optimizer<Single> optim{optimizer_of(vector)};
      Single module{flat(floats(vector.inputs[0].data), device)};
      for (std::size_t i = 0; i < vector.outputs.size(); ++i) {
        module = step(optim, std::move(module), floats(vector.inputs[i + 1].data), vector.number("lr"));
        expect_close(module, vector.outputs[i].data, vector.rtol, vector.atol,
                     vector.id + " step " + std::to_string(i + 1));
      }
      cases += 1;
    }
  }
  if (cases == 0) GTEST_SKIP() << "no reference vectors here; the other tests of this file stand alone";
}

// Decays only parameters that the step moves toward zero: those with the sign of their moment.
TEST_F(Optimizer, AdamWDecaysCautiously) {
  optim::Optimizer<Single> optim{optim::AdamWConfig{.weight_decay = 0.5, .cautious_weight_decay = true}};
  const auto next = step(optim, Single{flat({1, -1, 1, -1}, device)}, {1, 1, -1, -1}, 0.1);
  const double step = 0.1 / (1 + 1e-5);
  expect_close(next, {0.95 - step, -1 - step, 1 + step, -0.95 + step}, 1e-5, 0, "cautious");
}

// A variance that rounding makes negative counts as zero: its root would be a NaN.
TEST_F(Optimizer, RmsPropCentredStaysFiniteOfEqualGradients) {
  optim::Optimizer<Single> optim{optim::RmsPropConfig{.alpha = 0.5, .centered = true}};
  Single module{flat({1}, device)};
  for (int i = 0; i < 60; ++i) module = step(optim, std::move(module), {0.3f}, 1e-6);
  EXPECT_TRUE(std::isfinite(module.weight.val().into_scalar<float>()));
}

// In f16 itself 1e-8 is 0, and so is the square of 1e-4.
TEST_F(Optimizer, Steps16BitParametersInF32) {
  for (const ModuleOptimizer& engine :
       std::vector<ModuleOptimizer>{optim::AdamConfig{.epsilon = 1e-8}, optim::AdanConfig{},
                                    optim::RmsPropConfig{.epsilon = 1e-8}, optim::AdaGradConfig{.epsilon = 1e-8}}) {
    const auto after = [&](DType dtype) {
      optim::Optimizer<Single> optim{engine};
      Single module{flat({1, 2, 3}, device).cast(dtype)};
      for (int i = 0; i < 3; ++i) {
        GradientsParams gradients;
        gradients.put(module.weight.id(), flat({1e-4f, 0, -1}, device.inner()).cast(dtype).value());
        module = optim.step(0.125, std::move(module), std::move(gradients));
      }
      EXPECT_EQ(module.weight.val().dtype(), dtype);
      return module.weight.val().to_data().to_vec_as<double>();
    };
    EXPECT_THAT(after(DType::f16), ::testing::Pointwise(::testing::DoubleNear(4e-3), after(DType::f32)));
  }
}

struct Matrix {
  Param<2> weight;
  BURN_MODULE(Matrix, weight)
};

// The step is nearly orthogonal: its singular values are about 1, whatever the gradient's are.
TEST_F(Optimizer, MuonsStepIsNearlyOrthogonal) {
  device.seed(4);
  for (const auto& [rows, columns] : {std::pair{4, 4}, {3, 6}, {6, 3}}) {
    const auto gradient = Tensor<2>::random({rows, columns}, Distribution::normal(0, 3), device.inner());
    Matrix module{Tensor<2>::zeros({rows, columns}, device)};
    optim::Optimizer<Matrix> optim{optim::MuonConfig{.ns_steps = 12}};
    GradientsParams gradients;
    gradients.put(module.weight.id(), gradient.value());
    module = optim.step(1, std::move(module), std::move(gradients));
    const auto step = module.weight.val().inner();
    const auto square = rows <= columns ? step.matmul(step.transpose()) : step.transpose().matmul(step);
    const double ratio = std::max(1.0, static_cast<double>(rows) / columns);  // the learning rate's factor, squared
    const auto least = std::min(rows, columns);
    const auto got = square.to_data().to_vec<float>();
    double trace = 0;
    for (int i = 0; i < least; ++i)
      trace += got[static_cast<std::size_t>(i) * static_cast<std::size_t>(least + 1)] / ratio;
    EXPECT_NEAR(trace / least, 1, 0.4) << rows << "x" << columns;
  }
}

TEST_F(Optimizer, MuonTakesNothingButMatrices) {
  optim::Optimizer<Single> optim{optim::MuonConfig{}};
  try {
    (void)step(optim, Single{flat({1, 2}, device)}, {1, 1}, 0.1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::StartsWith("muon: takes matrices, but a parameter is f32[2] (at optim_test.cc:"));
  }
}

// A zero gradient in the first step moves nothing, as all state starts at zero.
TEST_F(Optimizer, MovesNothingWithoutAGradient) {
  for (const ModuleOptimizer& engine :
       std::vector<ModuleOptimizer>{optim::RmsPropConfig{}, optim::AdaGradConfig{}, optim::AdanConfig{}}) {
    optim::Optimizer<Single> optim{engine};
    expect_close(step(optim, Single{flat({1, 2}, device)}, {0, 0}, 0.1), {1, 2}, 0, 0, "zeros");
  }
}

TEST_F(Optimizer, ClipsAsTheReferenceVectorsDo) {
  std::size_t cases = 0;
  for (const auto& vector : test::vectors_of("optim.jsonl", "grad_clip_")) {
    const double limit = vector.number("threshold");
    const auto clipping = vector.op == "grad_clip_by_norm" ? GradientClippingConfig{.norm = limit}
                                                           : GradientClippingConfig{.value = limit};
    const auto& gradient = vector.inputs[0].data;
    optim::Optimizer<Single> optim{optim::SgdConfig{.grad_clipping = clipping}};
    // From zero, a step of rate 1 leads to the negated gradient.
    auto module = step(optim, Single{flat(std::vector<float>(gradient.size()), device)}, floats(gradient), 1);
    auto want = vector.outputs[0].data;
    for (auto& value : want) value = -value;
    expect_close(module, want, vector.rtol, vector.atol, vector.id);
    cases += 1;
  }
  if (cases == 0) GTEST_SKIP() << "no reference vectors here; the other tests of this file stand alone";
}

TEST_F(Optimizer, SgdByHand) {
  auto plain = optim::SgdConfig{}.init<Single>();
  expect_close(step(plain, {flat({1, -2}, device)}, {0.5, 4}, 0.1), {0.95, -2.4}, 0, 1e-6, "plain");
  // g = 0.5 + 0.1 * 1 and 4 - 0.1 * 2.
  auto decaying = optim::SgdConfig{.weight_decay = 0.1}.init<Single>();
  expect_close(step(decaying, {flat({1, -2}, device)}, {0.5, 4}, 0.1), {0.94, -2.38}, 0, 1e-6, "weight decay");
  // v1 = 1, v2 = 0.5 * 1 + 0.75 * 1 = 1.25.
  auto with_momentum =
      optim::SgdConfig{.momentum = optim::MomentumConfig{.momentum = 0.5, .dampening = 0.25}}.init<Single>();
  auto module = step(with_momentum, {flat({0}, device)}, {1}, 1);
  expect_close(module, {-1}, 0, 1e-6, "momentum, step 1");
  expect_close(step(with_momentum, std::move(module), {1}, 1), {-2.25}, 0, 1e-6, "momentum, step 2");
}

TEST_F(Optimizer, AdamByHand) {
  // In the first step the corrected moments are g and g^2: p - lr g / (|g| + epsilon).
  auto adam = optim::AdamConfig{.epsilon = 1}.init<Single>();
  expect_close(step(adam, {flat({0, 0}, device)}, {1, -3}, 0.1), {-0.05, 0.075}, 1e-5, 0, "adam");
  // Decoupled: p (1 - lr weight_decay) first.
  auto adamw = optim::AdamWConfig{.epsilon = 1, .weight_decay = 0.5}.init<Single>();
  expect_close(step(adamw, {flat({2, 2}, device)}, {1, -3}, 0.1), {1.85, 1.975}, 1e-5, 0, "adamw");
}

TEST_F(Optimizer, ClippingByHand) {
  auto by_norm = optim::SgdConfig{.grad_clipping = GradientClippingConfig{.norm = 1}}.init<Single>();
  expect_close(step(by_norm, {flat({0, 0}, device)}, {3, 4}, 1), {-0.6, -0.8}, 1e-5, 0, "norm 5");
  expect_close(step(by_norm, {flat({0, 0}, device)}, {0.3, 0.4}, 1), {-0.3, -0.4}, 1e-5, 0, "norm 0.5");
  expect_close(step(by_norm, {flat({0, 0}, device)}, {0, 0}, 1), {0, 0}, 0, 0, "norm 0");
  auto by_value = optim::SgdConfig{.grad_clipping = GradientClippingConfig{.value = 1}}.init<Single>();
  expect_close(step(by_value, {flat({0, 0}, device)}, {-3, 0.5}, 1), {1, -0.5}, 1e-6, 0, "value");
  EXPECT_THROW((void)(optim::SgdConfig{.grad_clipping = GradientClippingConfig{}}.init()), Error);
  EXPECT_THROW((void)(optim::SgdConfig{.grad_clipping = GradientClippingConfig{.norm = -1}}.init()), Error);
}

TEST_F(Optimizer, AccumulatedGradientsAreTheirSum) {
  Single module{flat({1, 1}, device)};
  GradientsAccumulator accumulator;
  for (int i = 0; i < 3; ++i) {
    const auto loss = (module.weight.val() * flat({1, 2}, device)).sum();
    accumulator.accumulate(GradientsParams::from_grads(loss.backward(), module));
  }
  auto optim = optim::SgdConfig{}.init<Single>();
  module = optim.step(0.1, std::move(module), accumulator.grads());
  expect_close(module, {0.7, 0.4}, 0, 1e-6, "sum of three");
  EXPECT_TRUE(accumulator.grads().empty());
}

TEST_F(Optimizer, ARecordGoesOnWhereTheStateWas) {
  const optim::AdamConfig config{.amsgrad = true};
  auto first = config.init<Single>();
  auto module = step(first, {flat({1, 2}, device)}, {0.5, -1}, 0.1);
  const auto record = first.to_record(module);
  EXPECT_THAT(record.names(),
              ::testing::ElementsAre("weight/max_moment_2", "weight/moment_1", "weight/moment_2", "weight/step"));
  EXPECT_EQ(record.get("weight/step").to_vec<std::int64_t>()[0], 1);

  auto second = config.init<Single>();
  const auto copy = module.load_record(module.into_record());
  second.load_record(copy, Record::from_bytes(record.to_bytes()));
  const auto went_on = step(first, module, {1, 1}, 0.1), resumed = step(second, copy, {1, 1}, 0.1);
  EXPECT_EQ(went_on.weight.val().to_data().to_vec<float>(), resumed.weight.val().to_data().to_vec<float>());
}

TEST_F(Optimizer, ARecordThatDoesNotFitIsAnError) {
  auto adam = optim::AdamConfig{}.init<Single>();
  const auto module = step(adam, {flat({1, 2}, device)}, {0.5, -1}, 0.1);
  auto record = adam.to_record(module);
  const auto message = [&](auto optim, const Single& target) -> std::string {
    try {
      optim.load_record(target, record);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(optim::SgdConfig{}.init<Single>(), module),
            "load_record: the record is of optimizer adam, this one is sgd");
  EXPECT_THAT(message(adam, Single{flat({1, 2, 3}, device)}),
              ::testing::HasSubstr("weight/moment_1 is f32[2] but the parameter is f32[3]"));
  record.insert("other/step", TensorData{std::vector<std::int64_t>{1}, {1}});
  EXPECT_THAT(message(adam, module), ::testing::HasSubstr("1 of the record's 4 tensors"));
  record.remove("weight/moment_2");
  EXPECT_NE(message(adam, module), "");
}

template <typename Config>
std::string refused(const Config& config) {
  return test::error_of([&] { (void)config.init(); });
}

TEST_F(Optimizer, NumbersThatMakeNoOptimizerAreRefused) {
  using namespace optim;
  EXPECT_EQ(refused(AdamConfig{.beta_1 = 1.5}), "AdamConfig: beta_1 is 1.5, must be at least 0 and below 1");
  EXPECT_EQ(refused(AdamConfig{.beta_2 = 1}), "AdamConfig: beta_2 is 1, must be at least 0 and below 1");
  EXPECT_EQ(refused(AdamConfig{.epsilon = -1e-8}), "AdamConfig: epsilon is -1e-08, must be at least 0 and finite");
  EXPECT_EQ(refused(AdamWConfig{.weight_decay = NAN}),
            "AdamWConfig: weight_decay is nan, must be at least 0 and finite");
  EXPECT_EQ(refused(AdanConfig{.beta_3 = -0.1}), "AdanConfig: beta_3 is -0.1, must be at least 0 and below 1");
  EXPECT_EQ(refused(RmsPropConfig{.alpha = 1}), "RmsPropConfig: alpha is 1, must be at least 0 and below 1");
  EXPECT_EQ(refused(RmsPropConfig{.momentum = -1}), "RmsPropConfig: momentum is -1, must be at least 0 and finite");
  EXPECT_EQ(refused(AdaGradConfig{.lr_decay = -1}), "AdaGradConfig: lr_decay is -1, must be at least 0 and finite");
  EXPECT_EQ(refused(SgdConfig{.weight_decay = -1}), "SgdConfig: weight_decay is -1, must be at least 0 and finite");
  EXPECT_EQ(refused(SgdConfig{.momentum = MomentumConfig{.momentum = -0.9}}),
            "SgdConfig: momentum is -0.9, must be at least 0 and finite");
  EXPECT_EQ(refused(MuonConfig{.ns_steps = 0}), "MuonConfig: ns_steps is 0, must be at least 1");
  EXPECT_EQ(refused(MuonConfig{.epsilon = -1}), "MuonConfig: epsilon is -1, must be at least 0 and finite");
}

TEST_F(Optimizer, ConfigurationsAreJson) {
  const optim::SgdConfig config{.momentum = optim::MomentumConfig{.nesterov = true},
                                .grad_clipping = GradientClippingConfig{.norm = 2}};
  const auto loaded = optim::SgdConfig::from_json(config.to_json());
  EXPECT_TRUE(loaded.momentum.value_or(optim::MomentumConfig{}).nesterov);
  const auto clipping = loaded.grad_clipping.value_or(GradientClippingConfig{});
  EXPECT_EQ(clipping.norm, 2.0);
  EXPECT_FALSE(clipping.value.has_value());
}

}  // namespace
}  // namespace burn
