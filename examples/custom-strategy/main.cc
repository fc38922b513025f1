// Trains a small regression on several devices with the strategy of host_sum.h:
//
//   custom-strategy                                   two devices in this process
//   custom-strategy ws://a:3000 ws://b:3000           two workers
//   custom-strategy --dashboard                       and a page that shows the training
#include <cmath>
#include <iostream>

#include <CLI/CLI.hpp>

#include "examples/custom-strategy/host_sum.h"

namespace custom_strategy {
namespace {

struct Point {
  float x;
};

struct Batch {
  Tensor<2> x, y;  // [batch, 1]: y = sin(3 x)
};

struct Batcher {
  Device device;

  Batch batch(const std::vector<Point>& points) const {
    std::vector<float> x, y;
    for (const auto& point : points) {
      x.push_back(point.x);
      y.push_back(std::sin(3 * point.x));
    }
    const auto count = static_cast<std::int64_t>(points.size());
    return {Tensor<2>::from_data(TensorData(std::move(x), {count, 1}), device),
            Tensor<2>::from_data(TensorData(std::move(y), {count, 1}), device)};
  }
};

struct Net {
  nn::Linear hidden, output;
  BURN_MODULE(Net, hidden, output)

  static Net init(const Device& device) {
    return {.hidden = nn::LinearConfig{.d_input = 1, .d_output = 64}.init(device),
            .output = nn::LinearConfig{.d_input = 64, .d_output = 1}.init(device)};
  }
  train::RegressionOutput step(const Batch& batch) const {
    const auto y = output(hidden(batch.x).tanh());
    return {nn::MseLoss{}(y, batch.y), y, batch.y};
  }
};

struct Options {
  std::vector<std::string> devices = {"cpu", "cpu"};
  std::string dashboard;  // address of a page that shows the training: "127.0.0.1:6006"; empty: none
};

void run(const Options& options) {
  std::vector<Device> devices;
  devices.reserve(options.devices.size());
  for (const auto& url : options.devices) devices.push_back(Device::new_session(url));
  constexpr int kPoints = 1000;
  std::vector<Point> points;
  points.reserve(kPoints);
  for (int i = 0; i < kPoints; ++i) points.push_back({static_cast<float>(i) / 500 - 1});
  auto builder = data::DataLoaderBuilder(Batcher{devices.front()}).batch_size(50);
  const auto valid = builder.build(data::InMemDataset<Point>(points));
  const auto loader = builder.shuffle(1).build(data::InMemDataset<Point>(points));
  devices.front().seed(1);
  auto training =
      train::SupervisedTraining("runs/custom-strategy", loader, valid).strategy(host_sum(devices)).epochs(20).seed(1);
  if (!options.dashboard.empty()) training.dashboard(options.dashboard);
  const auto result = training.launch(train::Learner(Net::init(devices.front().autodiff()), optim::AdamConfig{}, 1e-2));
  std::cout << "mean squared error after training: " << result.report.history.back().valid.at(0) << '\n';
}

}  // namespace
}  // namespace custom_strategy

int main(int argc, char** argv) {
  try {
    custom_strategy::Options options;
    CLI::App app{"Trains on several devices, whose gradients the host sums."};
    app.add_option("devices", options.devices, "where to compute: cpu, ws://host:port, ...")->capture_default_str();
    app.add_option("--dashboard", options.dashboard, "show the training in a browser; at 127.0.0.1:6006 unless said")
        ->expected(0, 1)
        ->default_str("127.0.0.1:6006");
    CLI11_PARSE(app, argc, argv);
    custom_strategy::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "custom-strategy: " << error.what() << '\n';
    return 1;
  }
}
