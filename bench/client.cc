// What the client costs by itself: recording, replaying, and feeding batches.
#include "bench/bench.h"
#include "burn/burn.h"
#include "client/device_state.h"

namespace burn::bench {
namespace {

// Microseconds for each node that `step` records, the program known and sent with each call. The device computes nothing and
// is in this process, so this is the client alone, whatever device is measured otherwise.
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

// Layers of a perceptron forward and backward: products, broadcast biases, activations, and their gradients.
std::vector<double> record_op_nn(const Context& c) {
  constexpr int kLayers = 50;
  const Device device = Device::new_session("null").autodiff();
  std::vector<nn::Linear> layers;
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

}  // namespace

void add_client(std::vector<Benchmark>& list) {
  list.push_back({"record_op", "us/op", "lower", record_op});
  list.push_back({"record_op_nn", "us/op", "lower", record_op_nn});
}

}  // namespace burn::bench
