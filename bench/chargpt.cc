// One training step of the model in chargpt.h, with AdamW.
#include "bench/chargpt.h"

#include "bench/bench.h"

namespace burn::bench {
namespace {

std::vector<double> chargpt_step(const Context& c) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  CharGpt net = CharGpt::init(ad);
  auto optim = optim::AdamWConfig{.weight_decay = 0.1}.init<CharGpt>();
  const auto [text_data, next_data] = chargpt_data();
  Tensor<1> loss;
  auto samples = repeat_batched(
      c, 1,
      [&, text = text_data, next = next_data] {
        const auto targets = Tensor<1, Int>::from_data(next, ad);
        loss = nn::CrossEntropyLoss{}(net.forward(Tensor<2, Int>::from_data(text, ad)), targets);
        net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
      },
      [&] { ad.sync(); });
  for (auto& s : samples) s = static_cast<double>(kBatch * kContext) / s;
  return samples;
}

}  // namespace

void add_chargpt(std::vector<Benchmark>& list) { list.push_back({"chargpt_step", "tokens/s", "higher", chargpt_step}); }

}  // namespace burn::bench
