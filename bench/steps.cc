// Whole training steps: the batch goes to the device, forward, backward, update. Steps follow each other without waiting, as in
// training; a sample is the mean over ten of them.
#include "bench/bench.h"
#include "burn/burn.h"

namespace burn::bench {
namespace {

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
std::vector<double> step(const Context& c, std::int64_t batch) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Net net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  std::vector<float> pixels(static_cast<std::size_t>(batch * Net::kFeatures));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 97) / 97;
  std::vector<std::int64_t> labels(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  const TensorData images_data(std::move(pixels), {batch, Net::kFeatures}), labels_data(std::move(labels), {batch});
  Tensor<1> loss;
  return microseconds(repeat_batched(
      c, 10,
      [&] {
        const auto images = Tensor<2>::from_data(images_data, ad);
        const auto targets = Tensor<1, Int>::from_data(labels_data, ad);
        loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
        net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
      },
      [&] { ad.sync(); }));
}

}  // namespace

void add_steps(std::vector<Benchmark>& list) {
  list.push_back({"mlp64_step", "us", "lower", [](const Context& c) { return step<Mlp>(c, 64); }});
  list.push_back({"cnn64_step", "us", "lower", [](const Context& c) { return step<Cnn>(c, 64); }});
  list.push_back({"cnn512_step", "us", "lower", [](const Context& c) { return step<Cnn>(c, 512); }});
}

}  // namespace burn::bench
