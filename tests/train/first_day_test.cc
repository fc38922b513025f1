// Mistakes that users make on their first day: every message names what is wrong, and the line of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class FirstDay : public ::testing::Test {
 protected:
  test::TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<test::RecordingRenderer> renderer = std::make_shared<test::RecordingRenderer>();

  template <typename... Metrics>
  auto training(Metrics... metrics) {
    const auto [train, valid] = test::tiny_loaders(device);
    return train::SupervisedTraining(folder / "run", train, valid).metrics(metrics...).renderer(renderer).epochs(1);
  }
};

// A wrong model: its loss is detached, so backward() finds no gradient to compute.
struct DetachedNet {
  nn::Linear layer;
  BURN_MODULE(DetachedNet, layer)
  train::ClassificationOutput step(const test::PointBatch& batch) const {
    auto logits = layer(batch.x);
    return {nn::CrossEntropyLoss{}(logits, batch.targets).detach(), logits, batch.targets};
  }
};

TEST_F(FirstDay, TheLearnerNamesTheLineThatLaunchedIt) {
  const auto net = nn::LinearConfig{.d_input = 2, .d_output = 2}.init(device.autodiff());
  const auto text =
      message_of([&] { training(metric::Loss{}).launch(train::Learner(DetachedNet{net}, optim::SgdConfig{}, 0.1)); });
  EXPECT_THAT(text, AllOf(HasSubstr("backward: no tensor that requires a gradient"), HasSubstr("first_day_test.cc:"),
                          Not(HasSubstr("(at )"))));
}

struct WrongMetric : metric::MeanMetric {
  std::string name() const override { return "Wrong"; }
  bool higher_is_better() const override { return true; }
  Tensor<1> measure(const metric::StepOutput& output) const override {
    return Tensor<1>{client::reshape(output.output, {7}, {})};
  }
};

TEST_F(FirstDay, AMetricsErrorHasItsName) {
  const auto text = message_of([&] {
    training(WrongMetric{}).launch(train::Learner(test::TinyNet::init(device.autodiff()), optim::SgdConfig{}, 0.1));
  });
  EXPECT_THAT(text, AllOf(::testing::StartsWith("metric Wrong: reshape: "), Not(HasSubstr("(at )"))));
}

TEST_F(FirstDay, GradientsOfAnotherModuleAreAnError) {
  const Device ad = device.autodiff();
  const nn::LinearConfig config{.d_input = 2, .d_output = 2};
  const auto net = config.init(ad), other = config.init(ad);
  const auto loss = [&] { return net(Tensor<2>::ones({3, 2}, ad)).sum(); };
  EXPECT_THAT(message_of([&] { (void)GradientsParams::from_grads(loss().backward(), other); }),
              AllOf(HasSubstr("from_grads: none of the 2 gradients belongs to one of the 2 parameters of this module"),
                    HasSubstr("first_day_test.cc:")));
  auto optim = optim::SgdConfig{}.init<nn::Linear>();
  EXPECT_THAT(message_of([&] { (void)optim.step(0.1, other, GradientsParams::from_grads(loss().backward(), net)); }),
              AllOf(HasSubstr("step: none of the 2 gradients belongs to a parameter of this module"),
                    HasSubstr("first_day_test.cc:")));
  // A frozen module has no gradients, which is no error; nor is a step with the right ones.
  EXPECT_EQ(GradientsParams::from_grads(loss().backward(), net.no_grad()).size(), 0u);
  (void)optim.step(0.1, net, GradientsParams::from_grads(loss().backward(), net));
}

TEST_F(FirstDay, AnOptimizerNamesTheLineOfItsStep) {
  const Device ad = device.autodiff();
  const auto net = nn::LinearConfig{.d_input = 2, .d_output = 2, .bias = false}.init(ad);
  GradientsParams wrong;
  wrong.put(net.weight.id(), Tensor<2>::ones({3, 3}, device).value());
  auto optim = optim::AdamConfig{}.init<nn::Linear>();
  EXPECT_THAT(message_of([&] { (void)optim.step(0.1, net, std::move(wrong)); }),
              AllOf(HasSubstr("first_day_test.cc:"), Not(HasSubstr("(at )"))));
}

TEST_F(FirstDay, CheckpointsLessMemoryOnRequest) {
  const auto train = [&](bool checkpointing) {
    device.seed(1);
    auto t = training(metric::Loss{}).seed(7);
    if (checkpointing) t.gradient_checkpointing();
    auto result = t.launch(train::Learner(test::TinyNet::init(device.autodiff()), optim::SgdConfig{}, 0.1));
    return result.model.output.weight.val().to_data().template to_vec<float>();
  };
  EXPECT_EQ(train(true), train(false));
}

}  // namespace
}  // namespace burn
