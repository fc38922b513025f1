// The model: a small convolutional network that classifies handwritten digits.
#pragma once

#include "burn/burn.h"
#include "examples/guide/batcher.h"

namespace guide {

using namespace burn::prelude;

struct Net {
  nn::Conv2d conv1, conv2;
  nn::AdaptiveAvgPool2d pool;
  nn::Dropout dropout;
  nn::Linear linear1, linear2;
  nn::Relu activation;
  BURN_MODULE(Net, conv1, conv2, pool, dropout, linear1, linear2, activation)

  Tensor<2> forward(const Tensor<3>& images) const {  // [batch, height, width] -> [batch, classes]
    auto [batch, height, width] = images.dims();
    auto x = images.reshape<4>({batch, 1, height, width});
    x = dropout(conv1(x));                 // [batch, 8, 26, 26]
    x = activation(dropout(conv2(x)));     // [batch, 16, 24, 24]
    auto flat = pool(x).flatten<2>(1, 3);  // [batch, 16 * 8 * 8]
    return linear2(activation(dropout(linear1(flat))));
  }

  // Called by the learner, for training and validation.
  burn::train::ClassificationOutput step(const MnistBatch& batch) const {
    auto output = forward(batch.images);
    auto loss = nn::CrossEntropyLoss{}(output, batch.targets);
    return {loss, output, batch.targets};
  }
};

struct NetConfig {
  std::int64_t num_classes = 10, hidden = 512;
  double dropout = 0.5;
  BURN_CONFIG(NetConfig, num_classes, hidden, dropout)

  Net init(const Device& device) const {
    return {
        .conv1 = nn::Conv2dConfig{.channels = {1, 8}, .kernel_size = {3, 3}}.init(device),
        .conv2 = nn::Conv2dConfig{.channels = {8, 16}, .kernel_size = {3, 3}}.init(device),
        .pool = nn::AdaptiveAvgPool2dConfig{.output_size = {8, 8}}.init(),
        .dropout = nn::DropoutConfig{.prob = dropout}.init(),
        .linear1 = nn::LinearConfig{.d_input = std::int64_t{16} * 8 * 8, .d_output = hidden}.init(device),
        .linear2 = nn::LinearConfig{.d_input = hidden, .d_output = num_classes}.init(device),
        .activation = {},
    };
  }
};

}  // namespace guide
