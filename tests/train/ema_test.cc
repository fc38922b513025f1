// Averages of weights: their values against hand-computed ones, where they are stored, and that they need no extra run.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "client/record/device_state.h"
#include "tests/support/error_of.h"
#include "tests/train/fake_session.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

struct Weights {
  Param<1> moving, frozen;
  BURN_MODULE(Weights, moving, frozen)

  static Weights init(const Device& device, DType dtype = DType::f32) {
    Weights made{Tensor<1>::from_data({1, 2}, {device, dtype}), Tensor<1>::from_data({5}, {device, dtype})};
    made.frozen = made.frozen.set_require_grad(false);
    return made;
  }
};

struct Tied {
  std::vector<nn::Linear> layers;
  BURN_MODULE(Tied, layers)
};
struct Normed {
  nn::BatchNorm norm;
  BURN_MODULE(Normed, norm)
};

std::vector<float> numbers(const Param<1>& param) { return param.val().to_data().convert<float>().to_vec<float>(); }

// Takes a step that adds `by` to the weights, and updates the average.
template <typename Average>
Weights moved_by(optim::Optimizer<Weights>& optim, Weights module, float by, Average& average) {
  GradientsParams gradients;
  const auto like = module.moving.val();
  gradients.put(module.moving.id(), (like.inner() * 0 - by).value());
  return optim.step(1, std::move(module), std::move(gradients), average);
}

class WeightAverages : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();
  optim::Optimizer<Weights> optim = optim::SgdConfig{}.init<Weights>();
};

TEST_F(WeightAverages, OfEmaForgetByTheirDecayAndBeginWithTheFirstStep) {
  auto net = Weights::init(device);
  auto ema = optim::Ema{.decay = 0.5}.init(net);
  EXPECT_EQ(numbers(ema.model().moving), (std::vector<float>{1, 2}));  // the untrained module
  net = moved_by(optim, std::move(net), 1, ema);
  EXPECT_EQ(numbers(ema.model().moving), (std::vector<float>{2, 3}));
  net = moved_by(optim, std::move(net), 2, ema);  // 4, 5
  EXPECT_EQ(numbers(ema.model().moving), (std::vector<float>{3, 4}));
  net = moved_by(optim, std::move(net), 4, ema);  // 8, 9
  EXPECT_EQ(numbers(ema.model().moving), (std::vector<float>{5.5, 6.5}));
  EXPECT_EQ(numbers(net.moving), (std::vector<float>{8, 9}));
  EXPECT_EQ(numbers(ema.model().frozen), (std::vector<float>{5}));
  EXPECT_FALSE(ema.model().moving.val().is_require_grad());
  EXPECT_EQ(ema.updates(), 3);
}

TEST_F(WeightAverages, OfEmaForgetFasterWhileTheyWarmUp) {
  auto net = Weights::init(device);
  auto ema = optim::Ema{.decay = 0.9, .warmup = 10}.init(net);
  double want = 0, weight = 1;
  for (int n = 0; n < 200; ++n) {
    net = moved_by(optim, std::move(net), 1, ema);
    weight += 1;
    const double kept = n == 0 ? 0 : std::min(0.9, (1.0 + n) / (10 + n));
    want = want * kept + weight * (1 - kept);
  }
  EXPECT_NEAR(numbers(ema.model().moving)[0], want, 1e-4);
}

TEST_F(WeightAverages, AreUpdatedEveryFewStepsAndForSwaFromAStartOn) {
  auto net = Weights::init(device);
  auto ema = optim::Ema{.decay = 0.5, .every = 2}.init(net);
  auto swa = optim::Swa{.start = 2, .every = 2}.init(net);
  for (int i = 0; i < 8; ++i) {  // the weight becomes 2, 3, ... 9
    net = moved_by(optim, std::move(net), 1, ema);
    swa.update(net);
  }
  EXPECT_EQ(numbers(ema.model().moving)[0], ((3 * 0.5 + 5 * 0.5) * 0.5 + 7 * 0.5) * 0.5 + 9 * 0.5);
  EXPECT_FLOAT_EQ(numbers(swa.model().moving)[0], (5 + 7 + 9) / 3.0);
  EXPECT_EQ(swa.steps(), 8);
  EXPECT_EQ(swa.updates(), 3);
}

TEST_F(WeightAverages, OfSixteenBitWeightsAreKeptInF32) {
  auto net = Weights::init(device, DType::bf16);
  auto ema = optim::Ema{.decay = 0.999}.init(net);
  for (int i = 0; i < 50; ++i) net = moved_by(optim, std::move(net), i == 0 ? 0 : 0.125, ema);
  const auto record = ema.to_record(net);
  ASSERT_EQ(record.names(), std::vector<std::string>{"moving"});
  EXPECT_EQ(record.get("moving").dtype(), DType::f32);
  double want = 1, weight = 1;
  for (int i = 1; i < 50; ++i) {
    weight += 0.125;
    want = want * 0.999 + weight * 0.001;
  }
  EXPECT_NEAR(record.get("moving").to_vec<float>()[0], want, 1e-5);  // its steps are far below the resolution of bf16
  EXPECT_EQ(ema.model().moving.val().dtype(), DType::bf16);
}

TEST_F(WeightAverages, GoOnFromARecordAsIfThereHadBeenNoStop) {
  auto net = Weights::init(device);
  auto straight = optim::Ema{.decay = 0.75, .warmup = 4, .every = 2}.init(net);
  for (int i = 0; i < 3; ++i) net = moved_by(optim, std::move(net), 1, straight);
  auto resumed = optim::Ema{.decay = 0.75, .warmup = 4, .every = 2}.init(net);
  resumed.load_record(net, Record::from_bytes(straight.to_record(net).to_bytes()));
  EXPECT_EQ(numbers(resumed.model().moving), numbers(straight.model().moving));
  for (int i = 0; i < 3; ++i) {
    net = moved_by(optim, std::move(net), 1, straight);
    resumed.update(net);
    EXPECT_EQ(numbers(resumed.model().moving), numbers(straight.model().moving));
  }
  EXPECT_EQ(resumed.steps(), 6);
}

TEST_F(WeightAverages, OfACapturedStepAreThoseOfTheStepItself) {
  for (const std::int64_t every : {1, 3}) {
    const auto train = [&](bool is_captured) {
      auto net = Weights::init(device);
      auto own = optim::SgdConfig{}.init<Weights>();
      auto ema = optim::Ema{.decay = 0.75, .warmup = 3, .every = every}.init(net);
      const auto body = [](Weights& net, optim::Optimizer<Weights>& optim, Average<Weights>& ema, const Tensor<1>& x) {
        const auto loss = (net.moving.val() * x).sum();
        net = optim.step(0.5, std::move(net), GradientsParams::from_grads(loss.backward(), net), ema);
        return loss.detach();
      };
      auto step = capture(device, body);
      for (int i = 0; i < 12; ++i) {
        const auto x = Tensor<1>::from_data({0.5f + static_cast<float>(i), 1.f}, device);
        (void)(is_captured ? step(net, own, ema, x) : body(net, own, ema, x));
      }
      EXPECT_EQ(step.replayed() > 5, is_captured);
      EXPECT_EQ(ema.steps(), 12);
      return numbers(ema.model().moving);
    };
    EXPECT_EQ(train(true), train(false)) << "every " << every;
  }
}

TEST_F(WeightAverages, OfTiedParametersAreOne) {
  const auto layer = nn::LinearConfig{.d_input = 2, .d_output = 2, .bias = false}.init(device);
  Tied net{{layer, layer}};
  auto ema = optim::Ema{}.init(net);
  ema.update(net);
  EXPECT_EQ(ema.to_record(net).size(), 1u);
  EXPECT_EQ(ema.model().num_params(), 4);
}

TEST_F(WeightAverages, OfRunningStatisticsGoAlong) {
  Normed net{nn::BatchNormConfig{.num_features = 1}.init(device)};
  auto ema = optim::Ema{.decay = 0.5}.init(net);
  ema.update(net);
  net.norm.running_mean.update(Tensor<1>::from_data({4}, device.inner()));
  ema.update(net);
  EXPECT_EQ(ema.model().norm.running_mean.val().item(), 2);
}

TEST_F(WeightAverages, RefuseAnotherModuleAnotherRecordAndNumbersThatAreNone) {
  auto net = Weights::init(device);
  auto ema = optim::Ema{}.init(net);
  ema.update(net);
  auto other = Weights::init(device);
  EXPECT_THAT(test::error_of([&] { ema.update(other); }), HasSubstr("\"moving\", f32[2], is not the tensor"));
  EXPECT_THAT(test::error_of([&] { moved_by(optim, other, 1, ema); }), HasSubstr("belongs to another module"));
  EXPECT_EQ(numbers(other.moving), (std::vector<float>{1, 2}));
  auto swa = optim::Swa{}.init(net);
  EXPECT_THAT(test::error_of([&] { swa.load_record(net, ema.to_record(net)); }),
              HasSubstr("the record is of ema, this average is swa"));
  EXPECT_THAT(test::error_of([&] { swa.load_record(net, Record{}); }), HasSubstr("of no average"));
  EXPECT_THAT(test::error_of([&] { (void)optim::Ema{.decay = 1}.init(net); }),
              HasSubstr("Ema: decay is 1, must be at least 0 and below 1"));
  EXPECT_THAT(test::error_of([&] { (void)optim::Ema{.every = 0}.init(net); }), HasSubstr("every is 0"));
  EXPECT_THAT(test::error_of([&] { (void)optim::Swa{.start = -1}.init(net); }), HasSubstr("start is -1"));
}

TEST(WeightAveragesOfAStep, AreRecordedInItsProgramAndKeepNoOldWeights) {
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server).autodiff();
  auto net = test::TinyNet::init(device);
  auto optim = optim::AdamConfig{}.init<test::TinyNet>();
  auto ema = optim::Ema{}.init(net);
  for (int i = 0; i < 5; ++i) {
    const auto x = Tensor<2>::from_data({{0, 1}, {1, 0}}, device);
    const auto targets = Tensor<1, Int>::from_data({0, 1}, device);
    device.flush();
    const auto before = server->runs.size();
    auto gradients = GradientsParams::from_grads(net.step({x, targets}).loss.backward(), net);
    net = optim.step(0.1, std::move(net), std::move(gradients), ema);
    EXPECT_EQ(server->runs.size() - before, 1u);
    // 4 parameters, their 8 moments and 4 averages; this batch and the previous one, which the next run releases. In
    // the first step, the initial weights are held, too.
    if (i == 0) continue;
    EXPECT_LE(server->tensors, 4 + 8 + 4 + 2 * 2) << "step " << i;
  }
}

}  // namespace
}  // namespace burn
