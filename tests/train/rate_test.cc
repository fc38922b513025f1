// Invalid learning rates: every optimizer refuses them, and such a step changes nothing.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "tests/support/error_of.h"
#include "train/optim/ada_grad.h"
#include "train/optim/adam.h"
#include "train/optim/adan.h"
#include "train/optim/lbfgs.h"
#include "train/optim/muon.h"
#include "train/optim/rms_prop.h"
#include "train/optim/sgd.h"

namespace burn {
namespace {

using test::error_of;
using ::testing::HasSubstr;

struct Matrix {
  Param<2> weight;
  BURN_MODULE(Matrix, weight)
};

struct InvalidRate {
  double rate;
  std::string text;
};
const std::vector<InvalidRate> kInvalidRates{
    {-1, "-1"}, {std::numeric_limits<double>::quiet_NaN(), "nan"}, {std::numeric_limits<double>::infinity(), "inf"}};

std::string expected_message(const InvalidRate& bad) {
  return "step: the learning rate is " + bad.text + ", must be at least 0 and finite";
}

class Rates : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();
  Matrix module{.weight = Tensor<2>::ones({2, 2}, device)};

  static Tensor<1> loss(const Matrix& at) { return at.weight.val().square().sum(); }
  static GradientsParams gradients(const Matrix& at) { return GradientsParams::from_grads(loss(at).backward(), at); }
};

TEST_F(Rates, AreRefusedByEveryOptimizer) {
  using namespace optim;
  const std::vector<ModuleOptimizer> all{SgdConfig{},     AdamConfig{}, AdamWConfig{}, RmsPropConfig{},
                                         AdaGradConfig{}, AdanConfig{}, MuonConfig{}};
  for (const auto& engine : all) {
    optim::Optimizer<Matrix> optimizer{engine};
    for (const auto& bad : kInvalidRates) {
      EXPECT_THAT(error_of([&] { (void)optimizer.step(bad.rate, module, gradients(module)); }),
                  HasSubstr(expected_message(bad)));
      EXPECT_TRUE(optimizer.to_record(module).empty());
    }
    EXPECT_EQ(error_of([&] { (void)optimizer.step(0, module, gradients(module)); }), "no error");
  }
  auto lbfgs = LbfgsConfig{}.init<Matrix>();
  for (const auto& bad : kInvalidRates) {
    EXPECT_THAT(
        error_of([&] {
          (void)lbfgs.step(bad.rate, module, [](const Matrix& at) { return std::pair{loss(at), gradients(at)}; });
        }),
        HasSubstr(expected_message(bad)));
  }
}

TEST_F(Rates, AreRefusedInGroups) {
  auto optimizer = optim::SgdConfig{}.init<Matrix>();
  lr::ModuleLearningRate rates{0.1};
  rates.with_group(ParamGroup::from_path("weight"), 0.2).with_group(ParamGroup::from_path("other"), -2);
  EXPECT_THAT(error_of([&] { (void)optimizer.step(rates, module, gradients(module)); }),
              HasSubstr("step: the learning rate of group 2 is -2, must be at least 0 and finite"));
}

TEST_F(Rates, AreRefusedByACapturedStepThatIsReplayed) {
  auto optimizer = optim::SgdConfig{}.init<Matrix>();
  auto step = capture(device, [](Matrix& net, optim::Optimizer<Matrix>& by, Scalar lr) {
    net = by.step(lr, std::move(net), gradients(net));
  });
  for (int i = 0; i < 4; ++i) step(module, optimizer, 0.25);
  EXPECT_EQ(step.replayed(), 1u);
  for (const auto& bad : kInvalidRates) {
    EXPECT_THAT(error_of([&] { step(module, optimizer, bad.rate); }), HasSubstr(expected_message(bad)));
  }
  step(module, optimizer, 0.25);
  EXPECT_THAT(module.weight.val().to_data().to_vec<float>(), ::testing::Each(1.0F / 32));
}

}  // namespace
}  // namespace burn
