// A small training run of the digit classifier, for system tests.
#pragma once

#include <string>
#include <vector>

#include "burn/burn.h"
#include "tests/system/on_every_transport.h"

namespace burn::test {

struct SmallNet {
  nn::Conv2d conv;
  nn::AdaptiveAvgPool2d pool;
  nn::Dropout dropout;
  nn::Linear linear;
  BURN_MODULE(SmallNet, conv, pool, dropout, linear)

  static SmallNet init(const Device& device) {
    return {.conv = nn::Conv2dConfig{.channels = {1, 4}, .kernel_size = {3, 3}}.init(device),
            .pool = nn::AdaptiveAvgPool2dConfig{.output_size = {4, 4}}.init(),
            .dropout = nn::DropoutConfig{.prob = 0.25}.init(),
            .linear = nn::LinearConfig{.d_input = 64, .d_output = 10}.init(device)};
  }

  Tensor<2> forward(const Tensor<3>& images) const {  // [batch, 28, 28] -> [batch, 10]
    const auto [batch, height, width] = images.dims();
    const auto x = conv(images.reshape<4>({batch, 1, height, width})).relu();
    return linear(dropout(pool(x).flatten<2>(1, 3)));
  }
};

// Trains for `steps` steps on batches of `batch` drawn digits; calls `after(step, loss)` after each step's boundary.
template <typename After>
void train_digits(const Device& ad, int steps, std::int64_t batch, After&& after) {
  ad.seed(42);
  SmallNet net = SmallNet::init(ad);
  auto optim = optim::AdamConfig{}.init<SmallNet>();
  const data::DigitsDataset digits(512, 1);
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint8_t> pixels;
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto item = digits.get(static_cast<std::size_t>(step * batch + i) % digits.len());
      pixels.insert(pixels.end(), item.image.begin(), item.image.end());
      labels.push_back(item.label);
    }
    const auto images = Tensor<3, Int>::from_data(TensorData(std::move(pixels), {batch, 28, 28}), ad).to_float() / 255;
    const auto targets = Tensor<1, Int>::from_data(TensorData(std::move(labels), {batch}), ad);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    after(step, loss);
  }
}

inline std::vector<float> losses_on(const Device& device, int steps) {
  std::vector<std::future<TensorData>> reads;
  train_digits(device.autodiff(), steps, 32,
               [&](int, const Tensor<1>& loss) { reads.push_back(loss.to_data_async()); });
  std::vector<float> losses;
  losses.reserve(reads.size());
  for (auto& read : reads) losses.push_back(read.get().to_vec<float>()[0]);
  return losses;
}

}  // namespace burn::test
