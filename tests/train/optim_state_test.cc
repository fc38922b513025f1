// The state of optimizers: unchanged by a step that fails, and on the module's device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

struct Pair {
  Param<1> first, second;
  BURN_MODULE(Pair, first, second)
};

Tensor<1> flat(const std::vector<float>& values, const Device& device) {
  return Tensor<1>::from_data(TensorData(values, {static_cast<std::int64_t>(values.size())}), device);
}
Pair pair(const Device& device) { return {flat({1, 2}, device), flat({3, 4}, device)}; }

std::vector<float> values(const Pair& module) {
  auto all = module.first.val().to_data().to_vec<float>();
  const auto rest = module.second.val().to_data().to_vec<float>();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}
void expect_same(const Record& got, const Record& want) {
  ASSERT_EQ(got.names(), want.names());
  for (const auto& [name, data] : want) EXPECT_EQ(got.get(name).to_vec_as<double>(), data.to_vec_as<double>()) << name;
}

Pair step(optim::Optimizer<Pair>& optim, Pair module) {
  const auto loss = (module.first.val() * module.second.val()).sum();
  return optim.step(0.1, std::move(module), GradientsParams::from_grads(loss.backward(), module));
}

std::vector<optim::ModuleOptimizer> every_optimizer() {
  return {optim::SgdConfig{},
          optim::SgdConfig{.momentum = optim::MomentumConfig{}},
          optim::AdamConfig{.amsgrad = true},
          optim::AdamWConfig{.cautious_weight_decay = true},
          optim::RmsPropConfig{.centered = true},
          optim::AdaGradConfig{},
          optim::AdanConfig{},
          optim::NAdamConfig{.weight_decay = 0.1, .decoupled_weight_decay = true},
          optim::RAdamConfig{.weight_decay = 0.1, .decoupled_weight_decay = true},
          optim::AdaDeltaConfig{},
          optim::LionConfig{},
          optim::AdaFactorConfig{}};
}

class OptimizerState : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();
};

// A good gradient for the first parameter, and `gradient`, which does not fit, for the second one.
GradientsParams mismatched_gradients(const Pair& module, const Tensor<1>& gradient) {
  GradientsParams gradients;
  gradients.put(module.first.id(), flat({1, 1}, gradient.device()).value());
  gradients.put(module.second.id(), gradient.value());
  return gradients;
}

TEST_F(OptimizerState, IsAsBeforeWhenAStepThrowsAndSoIsTheModule) {
  const Device other = Device::new_session("cpu");
  for (const auto& engine : every_optimizer()) {
    optim::Optimizer<Pair> optim{engine};
    auto net = step(optim, pair(device));
    const auto before = values(net);
    const auto state = optim.to_record(net);
    EXPECT_THROW(net = optim.step(0.1, std::move(net), mismatched_gradients(net, flat({1, 2, 3}, device.inner()))),
                 Error);
    EXPECT_THROW(net = optim.step(0.1, std::move(net), mismatched_gradients(net, flat({1, 2}, other))), Error);
    EXPECT_EQ(values(net), before);
    expect_same(optim.to_record(net), state);
    EXPECT_TRUE(net.first.val().is_require_grad());
    net = step(optim, std::move(net));  // the optimizer is still usable
    EXPECT_NE(values(net), before);
  }
}

TEST_F(OptimizerState, OfAFirstStepThatThrowsIsEmpty) {
  auto optim = optim::AdamConfig{}.init<Pair>();
  auto net = pair(device);
  EXPECT_THROW(net = optim.step(0.1, std::move(net), mismatched_gradients(net, flat({1, 2, 3}, device.inner()))),
               Error);
  EXPECT_EQ(values(net), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(optim.to_record(net).empty());
}

// Stores the last gradient; if `fails` is set, its second update throws.
class Throwing : public optim::TensorOptimizer {
 public:
  std::string_view name() const override { return "throwing"; }
  std::span<const std::string_view> state_names() const override { return kNames; }
  std::vector<double> numbers(double lr, std::int64_t) const override { return {lr}; }
  client::Value update(std::span<const client::Value>, const client::Value& param, const client::Value& gradient,
                       std::vector<client::Value>& state) const override {
    state = {gradient};
    if (fails && ++calls == 2) throw Error(StatusCode::internal, "no");
    return param;
  }
  mutable int calls = 0;
  mutable bool fails = false;

 private:
  static constexpr std::array<std::string_view, 1> kNames{"last"};
};

TEST_F(OptimizerState, IsAsBeforeWhenItsUpdateThrows) {
  const auto rule = std::make_shared<Throwing>();
  optim::Optimizer<Pair> optim{optim::ModuleOptimizer{rule}};
  auto net = step(optim, pair(device));
  const auto state = optim.to_record(net);
  rule->fails = true;
  rule->calls = 0;
  EXPECT_THROW(net = step(optim, net), Error);
  expect_same(optim.to_record(net), state);
}

TEST_F(OptimizerState, FollowsTheModuleToAnotherDevice) {
  for (const auto& engine : every_optimizer()) {
    optim::Optimizer<Pair> staying{engine}, moving{engine};
    auto there = pair(device), here = pair(device);
    for (int i = 0; i < 4; ++i) {
      const Device other = Device::new_session("cpu");
      there = step(staying, std::move(there));
      here = step(moving, here.to_device(other.autodiff()));
      EXPECT_EQ(here.first.val().device().inner(), other);
      EXPECT_EQ(values(here), values(there)) << "step " << i;
    }
  }
}

TEST_F(OptimizerState, FollowsTheModuleIntoACapturedStep) {
  const Device other = Device::new_session("cpu");
  auto optim = optim::AdamConfig{}.init<Pair>();
  auto reference_optim = optim::AdamConfig{}.init<Pair>();
  auto net = step(optim, pair(device)), reference = step(reference_optim, pair(device));
  net = net.to_device(other.autodiff());
  auto captured = capture(other, [](Pair& module, optim::Optimizer<Pair>& optimizer, Scalar lr) {
    const auto loss = (module.first.val() * module.second.val()).sum();
    module = optimizer.step(lr, std::move(module), GradientsParams::from_grads(loss.backward(), module));
    return loss;
  });
  for (int i = 0; i < 4; ++i) {
    (void)captured(net, optim, 0.1);
    reference = step(reference_optim, std::move(reference));
  }
  EXPECT_GT(captured.replayed(), 0u);
  EXPECT_EQ(values(net), values(reference));
}

TEST_F(OptimizerState, IsAsBeforeWhenARecordDoesNotFit) {
  auto optim = optim::AdamConfig{}.init<Pair>();
  const auto net = step(optim, pair(device));
  const auto state = optim.to_record(net);
  const auto refused = [&](const char* name, const TensorData& data) -> std::string {
    auto record = state;
    record.insert(name, data);
    try {
      optim.load_record(net, record);
    } catch (const Error& error) {
      expect_same(optim.to_record(net), state);
      return error.what();
    }
    return "";
  };
  const TensorData whole(std::vector<std::int64_t>{1, 2}, {2});
  EXPECT_THAT(refused("second/moment_2", whole), HasSubstr("second/moment_2 is i64[2] but the parameter is f32[2]"));
  EXPECT_THAT(refused("second/step", whole), HasSubstr("second/step is i64[2]"));
  EXPECT_THAT(refused("third/step", whole), HasSubstr("1 of the record's 7 tensors"));
  EXPECT_EQ(refused("second/moment_2", TensorData(std::vector<double>{1, 2}, {2})), "");
}

}  // namespace
}  // namespace burn
