// GPT-2's smallest model as people train and use it: 12 layers of 768 with 12 heads, a vocabulary of 50,304, products
// in bf16. The model is that of examples/gpt2.
#include "bench/bench.h"
#include "examples/gpt2/generate.h"

namespace burn::bench {
namespace {

constexpr gpt2::Gpt2Config kGpt2{};
constexpr std::int64_t kBatch = 16;

// Tokens that say nothing: the table's rows are as far apart as those of a text.
TensorData tokens(std::int64_t rows, std::int64_t length) {
  std::vector<std::int64_t> data(static_cast<std::size_t>(rows * length));
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::int64_t>(i * i % 50021) % kGpt2.vocabulary;
  }
  return {std::move(data), {rows, length}};
}

// A step of training with f32 weights and loss: 16 pieces of 1,024 tokens, which are on the device.
std::vector<double> gpt2_step(const Context& c) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  gpt2::Gpt2 net = kGpt2.init(ad);
  auto optim = optim::AdamWConfig{.epsilon = 1e-8, .weight_decay = 0.1}.init<gpt2::Gpt2>();
  auto step = capture(
      ad, [](gpt2::Gpt2& model, optim::Optimizer<gpt2::Gpt2>& optimizer, Scalar lr, const Tensor<2, Int>& text) {
        const Autocast scope{DType::bf16};
        const auto length = text.dim(1) - 1;
        auto loss = model.loss(text.narrow(1, 0, length), text.narrow(1, 1, length));
        model = optimizer.step(lr, std::move(model), GradientsParams::from_grads(loss.backward(), model));
        return loss;
      });
  const auto text = Tensor<2, Int>::from_data(tokens(kBatch, kGpt2.context + 1), ad);
  auto samples = repeat_batched(
      c, 5, [&] { (void)step(net, optim, 1e-4, text); }, [&] { ad.sync(); });
  for (auto& s : samples) s = static_cast<double>(kBatch * kGpt2.context) / s;
  return samples;
}

// A token of a text that is being written, batch 1, weights and cache in bf16: the mean over 256, of which the first
// finds 16 tokens in the cache. Every token's program has shapes of its own.
std::vector<double> gpt2_generate(const Context& c) {
  constexpr int kTokens = 256;
  c.device.seed(1);
  const auto net = kGpt2.init(c.device).to_dtype(DType::bf16);
  const auto prompt = Tensor<2, Int>::from_data(tokens(1, 16), c.device);
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
