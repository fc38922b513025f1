// A captured training gives, to the bit, what the same training gives when each step is recorded.
#include <cstring>

#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "net/remote/remote_session.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

struct NormNet {
  nn::Conv2d conv;
  nn::BatchNorm norm;
  nn::Dropout dropout;
  nn::AdaptiveAvgPool2d pool;
  nn::Linear linear;
  BURN_MODULE(NormNet, conv, norm, dropout, pool, linear)

  static NormNet init(const Device& device) {
    return {.conv = nn::Conv2dConfig{.channels = {1, 4}, .kernel_size = {3, 3}}.init(device),
            .norm = nn::BatchNormConfig{.num_features = 4}.init(device),
            .dropout = nn::DropoutConfig{.prob = 0.25}.init(),
            .pool = nn::AdaptiveAvgPool2dConfig{.output_size = {4, 4}}.init(),
            .linear = nn::LinearConfig{.d_input = 64, .d_output = 10}.init(device)};
  }
  Tensor<2> forward(const Tensor<3>& images) const {
    const auto [batch, height, width] = images.dims();
    const auto x = dropout(norm(conv(images.reshape<4>({batch, 1, height, width}))).relu());
    return linear(pool(x).flatten<2>(1, 3));
  }
};

struct Outcome {
  std::vector<TensorData> numbers;  // losses, then parameters and statistics, then what the optimizer remembers
  std::size_t recorded = 0, replayed = 0;
};

template <typename Config>
Outcome train(const Device& device, bool is_captured, const Config& optimizer) {
  const Device ad = device.autodiff();
  ad.seed(42);
  auto net = NormNet::init(ad);
  auto optim = optimizer.template init<NormNet>();
  const auto body = [](NormNet& net, optim::Optimizer<NormNet>& optim, Scalar lr, const Tensor<3, Int>& pixels,
                       const Tensor<1, Int>& targets) {
    const auto loss = nn::CrossEntropyLoss{}(net.forward(pixels.to_float() / 255), targets.to_int());
    net = optim.step(lr, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    return loss;
  };
  auto step = capture(ad, body);
  const data::DigitsDataset digits(256, 1);
  Outcome outcome;
  std::optional<NormNet> kept;
  for (int i = 0; i < 16; ++i) {
    const std::int64_t batch = i % 5 == 4 ? 7 : 16;  // an epoch's last batch is smaller
    std::vector<std::uint8_t> images, labels;
    for (std::int64_t k = 0; k < batch; ++k) {
      const auto item = digits.get(static_cast<std::size_t>(i * 16 + k));
      images.insert(images.end(), item.image.begin(), item.image.end());
      labels.push_back(item.label);
    }
    const auto pixels = Tensor<3, Int>::from_data(TensorData(std::move(images), {batch, 28, 28}), ad);
    const auto targets = Tensor<1, Int>::from_data(TensorData(std::move(labels), {batch}), ad);
    const double lr = 1e-2 / (1 + i);  // changes with each step, and so do Adam's corrections
    if (i == 11) kept = net;           // a second owner of the state of this step
    const auto loss = is_captured ? step(net, optim, lr, pixels, targets) : body(net, optim, lr, pixels, targets);
    outcome.numbers.push_back(loss.to_data());
  }
  const auto note = [&](const Record& record) {
    for (const auto& [name, data] : record) outcome.numbers.push_back(data);
  };
  note(net.into_record());
  note(kept->into_record());
  note(optim.to_record(net));
  outcome.recorded = step.recorded();
  outcome.replayed = step.replayed();
  return outcome;
}

void expect_bit_equal(const Outcome& captured, const Outcome& plain) {
  ASSERT_EQ(captured.numbers.size(), plain.numbers.size());
  for (std::size_t i = 0; i < plain.numbers.size(); ++i)
    EXPECT_EQ(captured.numbers[i], plain.numbers[i]) << "number " << i;
}

template <typename Config>
void expect_the_same_on(const Device& device, const Config& config) {
  const auto plain = train(device, false, config);
  const auto captured = train(device, true, config);
  expect_bit_equal(captured, plain);
  EXPECT_GT(captured.replayed, 8u);
}

TEST(CapturedTraining, IsBitEqualOnTheEmbeddedDevice) {
  const Device device = Device::new_session("cpu");
  expect_the_same_on(device, optim::AdamConfig{.weight_decay = 1e-4});
  expect_the_same_on(device, optim::AdamWConfig{.amsgrad = true});
  expect_the_same_on(device, optim::SgdConfig{.momentum = optim::MomentumConfig{},
                                              .grad_clipping = optim::GradientClippingConfig{.norm = 1.0}});
  expect_the_same_on(device, optim::SgdConfig{});
}

TEST(CapturedTraining, IsBitEqualOnEveryTransport) {
  const server::Server worker(test::on_every_transport());
  const auto plain = train(Device::new_session("cpu"), false, optim::AdamConfig{});
  for (const auto& url : worker.urls()) {
    SCOPED_TRACE(url);
    expect_bit_equal(train(Device::new_session(url), true, optim::AdamConfig{}), plain);
  }
}

TEST(CapturedTraining, RecordsOnlyAFewOfItsSteps) {
  const Device device = Device::new_session("cpu");
  const auto before = device.state()->stats();
  (void)train(device, true, optim::AdamConfig{});
  const auto captured = device.state()->stats();
  (void)train(device, false, optim::AdamConfig{});
  const auto plain = device.state()->stats();
  EXPECT_LT(captured.nodes_recorded - before.nodes_recorded, (plain.nodes_recorded - captured.nodes_recorded) / 2);
}

TEST(CapturedTraining, RefusesAnOptimizerThatIsNoArgument) {
  const Device ad = Device::new_session("cpu").autodiff();
  auto net = NormNet::init(ad);
  auto optim = optim::AdamConfig{}.init<NormNet>();
  auto step = capture(ad, [&](NormNet& net, const Tensor<3>& images) {
    const auto loss = net.forward(images).sum();
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    return loss;
  });
  const auto images = Tensor<3>::zeros({2, 28, 28}, ad);
  EXPECT_THROW((void)step(net, images), Error);
}

}  // namespace
}  // namespace burn
