// The host's cost per program, at both ends: models so narrow that their computation takes no time, with as many nodes
// as real ones.
#include <optional>

#include "bench/bench.h"
#include "examples/gpt2/generate.h"

namespace burn::bench {
namespace {

// Time per token of GPT-2's twelve layers at a width of 8. The program of every token has different shapes, and so many
// programs pass before one is repeated that no cache still has it. With cpu_us, the time for recording, sending,
// reading and planning.
std::vector<double> generate_host(const Context& c) {
  constexpr gpt2::Gpt2Config kNarrow{.vocabulary = 64, .context = 1024, .model = 8, .heads = 2, .layers = 12};
  constexpr int kTokens = 64, kLength = 512;
  c.device.seed(1);
  const auto net = kNarrow.init(c.device);
  const auto prompt = Tensor<2, Int>::from_data(TensorData(std::vector<std::int64_t>(16, 1), {1, 16}), c.device);
  std::optional<gpt2::Generator> generator;
  int written = 0;
  auto samples = repeat_batched(
      c, kTokens,
      [&] {
        if (written++ % kLength == 0) generator.emplace(net, prompt);
        (void)generator->next();
      },
      [&] { c.device.sync(); });
  return microseconds(std::move(samples));
}

}  // namespace

void add_host(std::vector<Benchmark>& list) { list.push_back({"generate_host", "us/token", "lower", generate_host}); }

}  // namespace burn::bench
