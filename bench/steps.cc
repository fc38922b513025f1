// Whole training steps: the batch goes to the device, forward, backward, update. Steps follow each other without
// waiting, as in training; a sample is the mean over ten of them, or over a hundred on a GPU, where ten are less than a
// millisecond and a tenth of that is the wait for the first batch and for the end.
#include "bench/models.h"
#include "client/batch_scope.h"

namespace burn::bench {
namespace {

template <typename Net>
std::vector<double> step(const Context& c, std::int64_t batch) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Net net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  const auto data = batch_data<Net>(batch);
  Tensor<1> loss;
  return microseconds(repeat_batched(
      c, c.gpu ? 100 : 10,
      [&] {
        const BatchScope of_batch;  // a router splits it over its workers
        const auto images = Tensor<2>::from_data(data.first, ad);
        const auto targets = Tensor<1, Int>::from_data(data.second, ad);
        loss = train_step(net, optim, 1e-3, images, targets);
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
