// A step whose run fails changes nothing but its counts: parameters, moments and statistics keep their values, the
// failure is reported once, and the loop goes on.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/autocast.h"
#include "client/capture/capture.h"
#include "client/tensor/linalg.h"
#include "nn/nn.h"
#include "tests/support/error_of.h"
#include "train/train.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kWords = 10;
constexpr int kSteps = 8, kBad = 3;

struct Net {
  nn::Embedding words;
  nn::Linear hidden, output;
  nn::BatchNorm norm;
  nn::Dropout dropout;
  BURN_MODULE(Net, words, hidden, output, norm, dropout)

  static Net init(const Device& device) {
    return {.words = nn::EmbeddingConfig{.n_embedding = kWords, .d_model = 6}.init(device),
            .hidden = nn::LinearConfig{.d_input = 6, .d_output = 8}.init(device),
            .output = nn::LinearConfig{.d_input = 8, .d_output = 3, .bias = false}.init(device),
            .norm = nn::BatchNormConfig{.num_features = 8}.init(device),
            .dropout = nn::DropoutConfig{.prob = 0.25}.init()};
  }
  Tensor<2> forward(const Tensor<1, Int>& x) const { return output(dropout(norm(hidden(words(x)).relu()))); }
};

struct Batch {
  Tensor<1, Int> words, targets;
};

Batch batch(const Device& device, int step, bool is_bad = false) {
  std::vector<std::int64_t> words(12), targets(12);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::int64_t>(i * i + static_cast<std::size_t>(step) * 3) % kWords;
    targets[i] = (words[i] * 7 + step) % 3;
  }
  if (is_bad) words[5] = 99;
  return {Tensor<1, Int>::from_data(TensorData(words, {12}), device),
          Tensor<1, Int>::from_data(TensorData(targets, {12}), device)};
}

struct Whitening {
  Param<2> matrix;
  BURN_MODULE(Whitening, matrix)
};

// Every optimizer with state, and one without.
std::vector<std::pair<std::string, optim::ModuleOptimizer>> optimizers() {
  optim::ModuleOptimizer mixed = optim::AdamWConfig{};
  mixed.with_group(ParamGroup::from_predicate([](std::string_view path) { return path == "output.weight"; }),
                   optim::MuonConfig{});
  return {{"sgd", optim::SgdConfig{}},
          {"momentum", optim::SgdConfig{.momentum = optim::MomentumConfig{}}},
          {"adam", optim::AdamConfig{.amsgrad = true}},
          {"clipped", optim::AdamConfig{.grad_clipping = optim::GradientClippingConfig{.norm = 1}}},
          {"adamw and muon", mixed},
          {"rms_prop", optim::RmsPropConfig{}},
          {"ada_grad", optim::AdaGradConfig{}},
          {"adan", optim::AdanConfig{}},
          {"nadam", optim::NAdamConfig{}},
          {"radam", optim::RAdamConfig{}},
          {"ada_delta", optim::AdaDeltaConfig{}},
          {"lion", optim::LionConfig{}},
          {"ada_factor", optim::AdaFactorConfig{}}};
}

class FailedSteps : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();

  enum class BadStep : std::uint8_t { skipped, failing };

  static Tensor<1, Bool> never(const Device& device) { return Tensor<1>::zeros({1}, device.inner()).greater(1); }

  // A training loop. The step of a bad batch either fails, by an index outside the table, or is skipped on purpose:
  // both must have the same effect.
  struct Loop {
    Net net;
    optim::Optimizer<Net> optim;

    std::string step(const Device& device, int i, bool is_bad, BadStep how, optim::Average<Net>* average = nullptr) {
      const auto [words, targets] = batch(device, i, is_bad && how == BadStep::failing);
      // A skipped step must not change the statistics either: they are restored below.
      const auto mean = net.norm.running_mean, var = net.norm.running_var;
      const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
      auto gradients = GradientsParams::from_grads(loss.backward(), net);
      if (is_bad && how == BadStep::skipped) {
        gradients.take_step_only_if(never(device));
        net.norm.running_mean = mean;
        net.norm.running_var = var;
      }
      net = average ? optim.step(0.05, std::move(net), std::move(gradients), *average)
                    : optim.step(0.05, std::move(net), std::move(gradients));
      return test::error_of([&] { losses.push_back(loss.into_scalar<float>()); });
    }
    std::vector<float> losses = {};
  };

  Loop train(const optim::ModuleOptimizer& engine, BadStep how, int bad = kBad) {
    device.seed(11);
    Loop loop{Net::init(device), optim::Optimizer<Net>{engine}};
    for (int i = 0; i < kSteps; ++i) {
      const auto said = loop.step(device, i, i == bad, how);
      if (how == BadStep::failing && i == bad)
        EXPECT_THAT(said, AllOf(HasSubstr("index 99 is outside 0..9"), HasSubstr("failed_steps_test.cc:")));
      else
        EXPECT_EQ(said, "no error") << "step " << i;
    }
    if (how == BadStep::skipped) loop.losses.erase(loop.losses.begin() + bad);
    return loop;
  }

  static void expect_same(const Record& got, const Record& want) {
    ASSERT_EQ(got.names(), want.names());
    for (const auto& [name, data] : want)
      EXPECT_EQ(got.get(name).to_vec_as<double>(), data.to_vec_as<double>()) << name;
  }
};

TEST_F(FailedSteps, AreStepsThatAreNotTaken) {
  for (const auto& [name, engine] : optimizers()) {
    SCOPED_TRACE(name);
    for (const int bad : {kBad, 0}) {  // at step 0 there are no moments yet
      const auto got = train(engine, BadStep::failing, bad), want = train(engine, BadStep::skipped, bad);
      EXPECT_EQ(got.losses, want.losses);
      EXPECT_EQ(got.losses.size(), kSteps - 1U);
      expect_same(got.net.into_record(), want.net.into_record());
      expect_same(got.optim.to_record(got.net), want.optim.to_record(want.net));
    }
  }
}

// An average treats a failed step like a skipped one: it is updated with the unchanged weights.
TEST_F(FailedSteps, LeaveAveragesOfWeightsWhole) {
  const auto averaged = [&](const optim::ModuleAverage& average, BadStep how) {
    device.seed(11);
    Loop loop{Net::init(device), optim::Optimizer<Net>{optim::AdamConfig{}}};
    optim::Average<Net> mean{average, loop.net};
    for (int i = 0; i < kSteps; ++i) {
      const auto said = loop.step(device, i, i == kBad, how, &mean);
      EXPECT_EQ(said == "no error", how == BadStep::skipped || i != kBad) << said;
    }
    EXPECT_EQ(mean.steps(), kSteps);
    return mean.model().into_record();
  };
  for (const auto& average : {optim::ModuleAverage{optim::Ema{.decay = 0.8}}, optim::ModuleAverage{optim::Swa{}}})
    expect_same(averaged(average, BadStep::failing), averaged(average, BadStep::skipped));
}

// A captured step that is replayed, also if the value that fails is not one of its results.
TEST_F(FailedSteps, AreTheSameWhenCaptured) {
  const auto train_captured = [&](bool returns_loss) {
    device.seed(11);
    Net net = Net::init(device);
    auto optim = optim::AdamConfig{}.init<Net>();
    auto step = capture(
        device, [](Net& net, optim::Optimizer<Net>& optim, const Tensor<1, Int>& words, const Tensor<1, Int>& targets) {
          const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
          net = optim.step(0.05, std::move(net), GradientsParams::from_grads(loss.backward(), net));
          return loss;
        });
    int failed = 0;
    for (int i = 0; i < kSteps; ++i) {
      const auto [words, targets] = batch(device, i, i == 5);
      const auto loss = step(net, optim, words, targets);
      const auto said = test::error_of([&] {
        if (returns_loss) (void)loss.template into_scalar<float>();
        device.sync();
      });
      if (said == "no error") continue;
      ++failed;
      EXPECT_EQ(i, 5);
      EXPECT_THAT(said, HasSubstr("index 99 is outside 0..9"));
    }
    EXPECT_EQ(failed, 1);
    EXPECT_GT(step.replayed(), 0U);
    return net.into_record();
  };
  const auto want = train(optim::AdamConfig{}, BadStep::skipped, 5).net.into_record();
  expect_same(train_captured(true), want);
  expect_same(train_captured(false), want);
}

TEST_F(FailedSteps, AreToldOnceByTheNextReadOfAnything) {
  device.seed(11);
  Net net = Net::init(device);
  auto optim = optim::AdamConfig{}.init<Net>();
  Record kept = net.into_record();
  for (int i = 0; i < 5; ++i) {
    const auto [words, targets] = batch(device, i, i == 2);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
    net = optim.step(0.05, std::move(net), GradientsParams::from_grads(loss.backward(), net));
  }
  EXPECT_THAT(test::error_of([&] { kept = net.into_record(); }), HasSubstr("index 99 is outside 0..9"));
  EXPECT_EQ(test::error_of([&] { (void)kept.names(); }), "no error") << "what was to be replaced stands";
  EXPECT_EQ(test::error_of([&] { kept = net.into_record(); }), "no error");
  EXPECT_EQ(test::error_of([&] { device.sync(); }), "no error");
}

TEST_F(FailedSteps, OfSeveralBatchesTogetherLeaveOutAllOfThem) {
  device.seed(11);
  Net net = Net::init(device);
  auto optim = optim::AdamConfig{}.init<Net>();
  GradientsAccumulator sum;
  const auto accumulate = [&](int i, bool is_bad) {
    const auto [words, targets] = batch(device, i, is_bad);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
    sum.accumulate(GradientsParams::from_grads(loss.backward(), net));
    device.flush();
  };
  const auto before = net.words.weight.val().to_data().to_vec<float>();
  accumulate(0, false);
  accumulate(1, true);
  net = optim.step(0.05, std::move(net), sum.grads());
  EXPECT_THAT(test::error_of([&] { device.sync(); }), HasSubstr("index 99 is outside 0..9"));
  EXPECT_EQ(net.words.weight.val().to_data().to_vec<float>(), before);
  accumulate(2, false);
  accumulate(3, false);
  net = optim.step(0.05, std::move(net), sum.grads());
  EXPECT_EQ(test::error_of([&] { device.sync(); }), "no error");
  EXPECT_NE(net.words.weight.val().to_data().to_vec<float>(), before);
}

TEST_F(FailedSteps, LeaveTheFactorOfLossScalingAlone) {
  device.seed(11);
  Net net = Net::init(device);
  auto optim = optim::AdamConfig{}.init<Net>();
  auto scaler = optim::GradScalerConfig{.initial = 4, .growth_interval = 3}.init(device);
  std::vector<float> factors;
  for (int i = 0; i < 6; ++i) {
    const auto [words, targets] = batch(device, i, i == 1);
    const Autocast scope{DType::bf16};
    const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
    auto gradients = scaler.unscale(GradientsParams::from_grads(scaler.scale(loss).backward(), net));
    net = optim.step(0.05, std::move(net), std::move(gradients));
    EXPECT_EQ(test::error_of([&] { (void)loss.into_scalar<float>(); }) == "no error", i != 1);
    factors.push_back(scaler.factor().into_scalar<float>());
  }
  EXPECT_EQ(factors, (std::vector<float>{4, 4, 4, 8, 8, 8}));
  for (const float x : net.words.weight.val().to_data().to_vec<float>()) EXPECT_TRUE(std::isfinite(x));
}

TEST_F(FailedSteps, MayBeThoseOfAMatrixWithoutAnAnswer) {
  Whitening net{Tensor<2>::from_data({{2, 0}, {0, 3}}, device)};
  auto optim = optim::AdamConfig{}.init<Whitening>();
  const auto step = [&](const Tensor<2>& x) {
    const auto loss = (net.matrix.val() * linalg::solve(x, Tensor<2>::ones_like(x))).sum();
    net = optim.step(0.1, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    return test::error_of([&] { (void)loss.into_scalar<float>(); });
  };
  const auto good = Tensor<2>::from_data({{1, 2}, {3, 5}}, device), singular = Tensor<2>::zeros({2, 2}, device);
  EXPECT_EQ(step(good), "no error");
  const auto before = net.matrix.val().to_data().to_vec<float>();
  EXPECT_THAT(step(singular), HasSubstr("is singular"));
  EXPECT_EQ(net.matrix.val().to_data().to_vec<float>(), before);
  EXPECT_EQ(step(good), "no error");
}

// A failed batch poisons a running sum of losses for good, but not the later steps that are recorded in the same
// programs as the sum.
TEST_F(FailedSteps, OfABatchDoNotStopTheOthersThroughASumOfLosses) {
  device.seed(11);
  Net net = Net::init(device);
  auto optim = optim::AdamConfig{}.init<Net>();
  auto total = Tensor<1>::zeros({1}, device.inner());
  for (int i = 0; i < 5; ++i) {
    const auto [words, targets] = batch(device, i, i == 1);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
    total = total + loss.inner();
    const auto before = net.words.weight.val();
    net = optim.step(0.05, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    const auto said = test::error_of([&] { (void)loss.into_scalar<float>(); });
    EXPECT_EQ(said == "no error", i != 1) << said;
    EXPECT_EQ(before.to_data().to_vec<float>() == net.words.weight.val().to_data().to_vec<float>(), i == 1) << i;
  }
  EXPECT_THAT(test::error_of([&] { (void)total.into_scalar<float>(); }), HasSubstr("index 99"));
}

TEST_F(FailedSteps, ARecordOfATensorThatFailedIsNone) {
  Net net = Net::init(device);
  Record kept = net.into_record();
  const auto index = Tensor<1, Int>::from_data(TensorData(std::vector<std::int64_t>{99, 1}, {2}), device);
  net.words.weight = Param<2>(net.words.weight.val().select(0, index));
  const auto said = test::error_of([&] { kept = net.into_record(); });
  EXPECT_THAT(said, AllOf(HasSubstr("words.weight"), HasSubstr("index 99 is outside 0..9"), HasSubstr("UTC")));
  EXPECT_EQ(kept.get("words.weight").shape(), (ir::Shape{kWords, 6}));
}

}  // namespace
}  // namespace burn
