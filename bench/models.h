// The models of the step benchmarks, and a batch for them.
#pragma once

#include <utility>
#include <vector>

#include "bench/bench.h"
#include "burn/burn.h"

namespace burn::bench {

struct Mlp {
  nn::Linear linear1, linear2, linear3;
  BURN_MODULE(Mlp, linear1, linear2, linear3)

  static Mlp init(const Device& device) {
    return {.linear1 = nn::LinearConfig{.d_input = 784, .d_output = 512}.init(device),
            .linear2 = nn::LinearConfig{.d_input = 512, .d_output = 512}.init(device),
            .linear3 = nn::LinearConfig{.d_input = 512, .d_output = 10}.init(device)};
  }
  static constexpr std::int64_t kFeatures = 784;
  Tensor<2> forward(const Tensor<2>& x) const { return linear3(linear2(linear1(x).relu()).relu()); }
};

struct Cnn {
  nn::Conv2d conv1, conv2;
  nn::AdaptiveAvgPool2d pool;
  nn::Dropout dropout;
  nn::Linear linear1, linear2;
  BURN_MODULE(Cnn, conv1, conv2, pool, dropout, linear1, linear2)

  static Cnn init(const Device& device) {
    return {.conv1 = nn::Conv2dConfig{.channels = {1, 8}, .kernel_size = {3, 3}}.init(device),
            .conv2 = nn::Conv2dConfig{.channels = {8, 16}, .kernel_size = {3, 3}}.init(device),
            .pool = nn::AdaptiveAvgPool2dConfig{.output_size = {8, 8}}.init(),
            .dropout = nn::DropoutConfig{.prob = 0.5}.init(),
            .linear1 = nn::LinearConfig{.d_input = 1024, .d_output = 512}.init(device),
            .linear2 = nn::LinearConfig{.d_input = 512, .d_output = 10}.init(device)};
  }
  static constexpr std::int64_t kFeatures = 784;
  Tensor<2> forward(const Tensor<2>& images) const {
    auto x = dropout(conv1(images.reshape<4>({-1, 1, 28, 28})));
    x = dropout(conv2(x)).relu();
    return linear2(dropout(linear1(pool(x).flatten<2>(1, 3))).relu());
  }
};

template <typename Net>
std::pair<TensorData, TensorData> batch_data(std::int64_t batch) {
  std::vector<float> pixels(static_cast<std::size_t>(batch * Net::kFeatures));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 97) / 97;
  std::vector<std::int64_t> labels(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  return {TensorData(std::move(pixels), {batch, Net::kFeatures}), TensorData(std::move(labels), {batch})};
}

// Runs forward, backward and update; returns the loss.
template <typename Net>
Tensor<1> train_step(Net& net, optim::Optimizer<Net>& optim, Scalar lr, const Tensor<2>& images,
                     const Tensor<1, Int>& targets) {
  auto loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
  net = optim.step(lr, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
  return loss;
}

}  // namespace burn::bench
