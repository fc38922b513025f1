// Training steps of recurrent layers, and the extra cost of a new sequence length.
#include <chrono>

#include "bench/bench.h"
#include "burn/burn.h"

namespace burn::bench {
namespace {

Tensor<3> sequence(const Device& device, std::int64_t batch, std::int64_t time, std::int64_t width) {
  return Tensor<3>::random({batch, time, width}, Distribution::uniform(-1, 1), device);
}

// Two layers as wide as their input, with Adam; the loss is the mean square of all states of the upper one.
class LstmTraining {
 public:
  LstmTraining(const Device& device, std::int64_t width)
      : net_(nn::LstmConfig{.d_input = width, .d_hidden = width, .n_layers = 2}.init(device)),
        optim_(optim::AdamConfig{}.init<nn::Lstm>()) {}

  void step(const Tensor<3>& x) {
    const auto loss = net_.forward(x).first.square().mean();
    net_ = optim_.step(1e-3, std::move(net_), optim::GradientsParams::from_grads(loss.backward(), net_));
  }

 private:
  nn::Lstm net_;
  optim::Optimizer<nn::Lstm> optim_;
};

// 64 sequences of 128 steps of 512 numbers.
std::vector<double> lstm_step(const Context& c) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  LstmTraining training(ad, 512);
  const auto x = sequence(ad, 64, 128, 512);
  auto seconds = repeat_batched(
      c, c.gpu ? 10 : 1, [&] { training.step(x); }, [&] { ad.sync(); });
  for (auto& s : seconds) s *= 1e3;
  return seconds;
}

// For sequences of some 128 steps, so small that computing takes no time: the time of a step with a new length, minus
// that of a second step with the same length.
std::vector<double> lstm_new_length(const Context& c) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  LstmTraining training(ad, 8);
  std::int64_t time = 100;
  const auto milliseconds = [&](const Tensor<3>& x) {
    const auto begin = std::chrono::steady_clock::now();
    training.step(x);
    ad.sync();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<double> samples;
  const auto begin = std::chrono::steady_clock::now();
  while (samples.size() < 10 || std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(c.seconds)) {
    const auto x = sequence(ad, 2, time++, 8);
    ad.sync();
    const double first = milliseconds(x);
    samples.push_back(first - milliseconds(x));
  }
  return samples;
}

}  // namespace

void add_recurrent(std::vector<Benchmark>& list) {
  list.push_back({"lstm_step", "ms", "lower", lstm_step});
  list.push_back({"lstm_new_length", "ms", "lower", lstm_new_length});
}

}  // namespace burn::bench
