// The client's own cost: recording, replaying, and feeding batches.
#include "bench/models.h"
#include "client/record/device_state.h"

namespace burn::bench {
namespace {

// Microseconds per node that `step` records. The program is already known to the device and is sent with each call. The
// device is a null device in this process, so only the client is measured, whatever device is benchmarked otherwise.
template <typename Step>
std::vector<double> recording(const Context& c, const Device& device, Step&& step) {
  const auto nodes = [&] { return device.state()->stats().nodes_recorded; };
  step();
  const auto before = nodes();
  step();
  const auto count = static_cast<double>(nodes() - before);
  auto seconds = repeat(c, step);
  for (auto& s : seconds) s /= count;
  return microseconds(std::move(seconds));
}

std::vector<double> record_op(const Context& c) {
  constexpr int kChain = 1000;
  const Device device = Device::new_session("null");
  const auto x = Tensor<2>::zeros({32, 32}, device) + 0;
  device.sync();
  return recording(c, device, [&] {
    auto y = x;
    for (int i = 0; i < kChain; ++i) y = y + x;
    device.flush();
  });
}

// Layers of a perceptron, forward and backward: matmuls, broadcast biases, activations, and their gradients.
std::vector<double> record_op_nn(const Context& c) {
  constexpr int kLayers = 50;
  const Device device = Device::new_session("null").autodiff();
  std::vector<nn::Linear> layers;
  layers.reserve(kLayers);
  for (int i = 0; i < kLayers; ++i) layers.push_back(nn::LinearConfig{.d_input = 32, .d_output = 32}.init(device));
  const auto x = Tensor<2>::zeros({32, 32}, device) + 0;
  device.sync();
  return recording(c, device, [&] {
    auto y = x;
    for (const auto& layer : layers) y = layer(y).relu();
    const auto gradients = y.sum().backward();
    y = {};
    device.flush();
  });
}

// The steps of steps.cc, captured: the batch is uploaded and the step replayed.
template <typename Net>
std::vector<double> captured_step(const Context& c, std::int64_t batch) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Net net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  auto step = capture(ad, &train_step<Net>);
  const auto [images_data, labels_data] = batch_data<Net>(batch);
  Tensor<1> loss;
  return microseconds(repeat_batched(
      c, 10,
      [&] {
        loss =
            step(net, optim, 1e-3, Tensor<2>::from_data(images_data, ad), Tensor<1, Int>::from_data(labels_data, ad));
      },
      [&] { ad.sync(); }));
}

// The client's time for one step of the perceptron, on a null device: recorded or replayed.
std::vector<double> client_step(const Context& c, bool is_captured) {
  const Device ad = Device::new_session("null").autodiff();
  auto net = Mlp::init(ad);
  auto optim = optim::AdamConfig{}.init<Mlp>();
  auto step = capture(ad, &train_step<Mlp>);
  const auto [images_data, labels_data] = batch_data<Mlp>(64);
  const auto images = Tensor<2>::from_data(images_data, ad);
  const auto targets = Tensor<1, Int>::from_data(labels_data, ad);
  Tensor<1> loss;
  return microseconds(repeat_batched(
      c, 10,
      [&] {
        loss = is_captured ? step(net, optim, 1e-3, images, targets) : train_step(net, optim, 1e-3, images, targets);
      },
      [] {}));
}

// The steps of steps.cc fed by a loader, whose worker builds and uploads the batch while earlier steps run. Every batch
// is built from its items each time.
template <typename Net>
std::vector<double> loader_step(const Context& c, std::size_t batch, std::size_t workers) {
  struct Batch {
    Tensor<2> images;
    Tensor<1, Int> targets;
  };
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Net net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  const auto make = [&ad](const std::vector<data::MnistItem>& items) {
    const auto count = static_cast<std::int64_t>(items.size());
    std::vector<float> pixels;
    std::vector<std::int64_t> labels;
    pixels.reserve(items.size() * Net::kFeatures);
    for (const auto& item : items) {
      for (const auto pixel : item.image) pixels.push_back(static_cast<float>(pixel) / 255);
      labels.push_back(item.label);
    }
    return Batch{Tensor<2>::from_data(TensorData(std::move(pixels), {count, Net::kFeatures}), ad),
                 Tensor<1, Int>::from_data(TensorData(std::move(labels), {count}), ad)};
  };
  const auto digits = data::InMemDataset<data::MnistItem>::from_dataset(data::DigitsDataset(20 * batch, 1));
  auto loader = data::DataLoaderBuilder(make).batch_size(batch).num_workers(workers).build(digits);
  Tensor<1> loss;
  const auto epoch = [&] {
    for (const Batch& b : loader) loss = train_step(net, optim, 1e-3, b.images, b.targets);
  };
  auto seconds = repeat_batched(c, 1, epoch, [&] { ad.sync(); });
  for (auto& s : seconds) s /= 20;
  return microseconds(std::move(seconds));
}

}  // namespace

void add_client(std::vector<Benchmark>& list) {
  list.push_back({"record_op", "us/op", "lower", record_op});
  list.push_back({"record_op_nn", "us/op", "lower", record_op_nn});
  list.push_back({"client_step", "us", "lower", [](const Context& c) { return client_step(c, false); }});
  list.push_back({"client_step_captured", "us", "lower", [](const Context& c) { return client_step(c, true); }});
  list.push_back({"mlp64_step_captured", "us", "lower", [](const Context& c) { return captured_step<Mlp>(c, 64); }});
  list.push_back({"cnn64_step_captured", "us", "lower", [](const Context& c) { return captured_step<Cnn>(c, 64); }});
  list.push_back({"mlp64_loader", "us", "lower", [](const Context& c) { return loader_step<Mlp>(c, 64, 0); }});
  list.push_back({"mlp64_loader_ahead", "us", "lower", [](const Context& c) { return loader_step<Mlp>(c, 64, 1); }});
  list.push_back({"cnn64_loader", "us", "lower", [](const Context& c) { return loader_step<Cnn>(c, 64, 0); }});
  list.push_back({"cnn64_loader_ahead", "us", "lower", [](const Context& c) { return loader_step<Cnn>(c, 64, 1); }});
}

}  // namespace burn::bench
