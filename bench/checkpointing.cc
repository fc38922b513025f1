// burn-bench-checkpointing: the benefit and cost of gradient checkpointing: peak device memory and time of a training
// step, with and without it. Prints one JSON object per line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "backends/registry/registry.h"
#include "base/error.h"
#include "bench/chargpt.h"
#include "session/local_session.h"

namespace burn::bench {
namespace {

// 16 layers of gelu(x W + b) on a batch of 4,096 rows of 256.
struct DeepMlp {
  std::vector<nn::Linear> layers;
  BURN_MODULE(DeepMlp, layers)

  static constexpr std::int64_t kWidth = 256, kRows = 4096;
  static DeepMlp init(const Device& device) {
    DeepMlp mlp;
    for (int i = 0; i < 16; ++i)
      mlp.layers.push_back(nn::LinearConfig{.d_input = kWidth, .d_output = kWidth}.init(device));
    return mlp;
  }
  Tensor<2> forward(Tensor<2> x) const {
    for (const auto& layer : layers) x = activation::gelu(layer(x));
    return x;
  }
};

struct Figures {
  double milliseconds = 0;     // median time of a step
  double start = 0, peak = 0;  // MiB: parameters, optimizer and batch; the peak within a step
};

// Makes a training step with a new model on the given device.
using MakeStep = std::function<std::function<void()>(const Device&)>;

Figures measure(const std::string& kind, const MakeStep& make, GradientCheckpointingStrategy strategy, int steps) {
  const auto worker = session::Worker::create(value_or_throw(backends::open_backend(kind)));
  const Device device = Device::from_session(kind, session::make_local_session(worker)).autodiff();
  device.seed(1);
  const auto step = make(device);
  const GradientCheckpointing scope{strategy};
  const auto run = [&] {
    step();
    device.sync();
  };
  for (int i = 0; i < 3; ++i) run();
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(times);
  const auto memory = worker->backend().memory();
  constexpr double kMiB = 1 << 20;
  return {times[times.size() / 2], static_cast<double>(memory.in_use) / kMiB, static_cast<double>(memory.peak) / kMiB};
}

std::function<void()> mlp_step(const Device& device) {
  auto net = std::make_shared<DeepMlp>(DeepMlp::init(device));
  auto optim = std::make_shared<optim::Optimizer<DeepMlp>>(optim::SgdConfig{}.init<DeepMlp>());
  const auto x = Tensor<2>::random({DeepMlp::kRows, DeepMlp::kWidth}, Distribution::normal(0, 1), device);
  return [=] {
    const auto loss = net->forward(x).square().mean();
    *net = optim->step(1e-3, std::move(*net), optim::GradientsParams::from_grads(loss.backward(), *net));
  };
}

std::function<void()> chargpt_step(const Device& device) {
  auto net = std::make_shared<CharGpt>(CharGpt::init(device));
  auto optim = std::make_shared<optim::Optimizer<CharGpt>>(optim::AdamWConfig{.weight_decay = 0.1}.init<CharGpt>());
  const auto [text, next] = chargpt_data();
  const auto x = Tensor<2, Int>::from_data(text, device);
  const auto targets = Tensor<1, Int>::from_data(next, device);
  return [=] {
    const auto loss = nn::CrossEntropyLoss{}(net->forward(x), targets);
    *net = optim->step(1e-3, std::move(*net), optim::GradientsParams::from_grads(loss.backward(), *net));
  };
}

}  // namespace
}  // namespace burn::bench

int main(int argc, char** argv) {
  using namespace burn::bench;
  std::string device = "cpu";
  int steps = 9;
  CLI::App app{"What gradient checkpointing saves and costs", "burn-bench-checkpointing"};
  app.add_option("--device", device, "A device of this process: cpu, cuda:0")->capture_default_str();
  app.add_option("--steps", steps, "Steps that are timed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    for (const auto& [name, make] :
         {std::pair<const char*, MakeStep>{"deep_mlp", mlp_step}, {"chargpt", chargpt_step}}) {
      for (const auto strategy :
           {burn::GradientCheckpointingStrategy::disabled, burn::GradientCheckpointingStrategy::balanced}) {
        const auto figures = measure(device, make, strategy, steps);
        std::printf(R"({"model":"%s","checkpointing":"%s","step_ms":%.1f,"resident_mib":%.1f,"peak_mib":%.1f})"
                    "\n",
                    name, strategy == burn::GradientCheckpointingStrategy::disabled ? "disabled" : "balanced",
                    figures.milliseconds, figures.start, figures.peak);
        std::fflush(stdout);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "burn-bench-checkpointing: %s\n", error.what());
    return 1;
  }
  return 0;
}
