// GPT-2's smallest model as people train and use it, on one device.
#include "bench/gpt2.h"

#include "bench/bench.h"

namespace burn::bench {
namespace {

// A training step with f32 weights and loss: 16 pieces of 1,024 tokens, which are already on the device.
std::vector<double> gpt2_step(const Context& c) {
  auto samples = with_gpt2_step(c.device, kPieces, false, [&](const auto& step) {
    return repeat_batched(
        c, 5, [&] { (void)step(); }, [&] { c.device.sync(); });
  });
  for (auto& s : samples) s = static_cast<double>(kPieces * kGpt2.context) / s;
  return samples;
}

// Time per generated token, batch 1, weights and cache in bf16: the mean over 256 tokens, starting with 16 tokens in
// the cache. The program of every token has different shapes.
std::vector<double> gpt2_generate(const Context& c) {
  constexpr int kTokens = 256;
  c.device.seed(1);
  const auto net = kGpt2.init(c.device).to_dtype(DType::bf16);
  const auto prompt = Tensor<2, Int>::from_data(gpt2_tokens(1, 16), c.device);
  auto samples = repeat(c, [&] {
    gpt2::Generator generator{net, prompt};
    for (int i = 0; i < kTokens; ++i) (void)generator.next();
    c.device.sync();
  });
  for (auto& s : samples) s *= 1e3 / kTokens;
  return samples;
}

}  // namespace

void add_gpt2(std::vector<Benchmark>& list) {
  list.push_back({"gpt2_step", "tokens/s", "higher", gpt2_step, true});
  list.push_back({"gpt2_generate", "ms/token", "lower", gpt2_generate, true});
}

}  // namespace burn::bench
