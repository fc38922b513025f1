#include "examples/lora/tune.h"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <random>

#include <fmt/format.h>

namespace lora {
namespace {

using gpt2::Gpt2;

// [batch, context + 1] bytes from positions drawn by `rng`.
Tensor<2, Int> batch_of(const std::string& text, const gpt2::Options& options, std::mt19937_64& rng,
                        const Device& device) {
  const auto length = static_cast<std::size_t>(options.context) + 1;
  std::uniform_int_distribution<std::size_t> place{0, text.size() - length};
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < options.batch; ++i) {
    const auto piece = text.substr(place(rng), length);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  const auto width = static_cast<std::int64_t>(length);
  return Tensor<2, Int>::from_data(TensorData(std::move(bytes), {options.batch, width}), device).to_int();
}

}  // namespace

Tuned tune(const Options& options, const std::string& text, std::ostream& out) {
  const auto& base = options.base;
  if (text.size() <= static_cast<std::size_t>(base.context)) {
    throw burn::Error(
        burn::StatusCode::invalid_argument,
        fmt::format("lora: a text of {} bytes is too short for a context of {}", text.size(), base.context));
  }
  const Device device = Device{base.device}.autodiff();
  device.seed(base.seed);
  const gpt2::Gpt2Config config{base.vocabulary, base.context, base.model, base.heads, base.layers};
  auto whole = config.init(device);
  if (!base.start.empty()) whole = whole.load_file(base.start);

  const nn::Lora lora{
      .rank = options.rank, .alpha = options.alpha, .group = burn::ParamGroup::from_regex(options.group)};
  Tuned result{.net = nn::apply_lora(whole, lora), .merged = whole, .losses = {}};
  const auto all = result.net.num_params(), added = all - whole.num_params();
  result.share = static_cast<double>(added) / static_cast<double>(all);
  out << fmt::format("{} parameters, {} of them trained: {:.2f} %\n", all, added, 100 * result.share);

  auto optim = optim::AdamWConfig::pytorch().init<Gpt2>();
  auto step = burn::capture(device, [context = base.context](Gpt2& net, optim::Optimizer<Gpt2>& optim, Scalar lr,
                                                             const Tensor<2, Int>& tokens) {
    auto loss = net.loss(tokens.narrow(1, 0, context), tokens.narrow(1, 1, context));
    net = optim.step(lr, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    return loss;
  });
  std::mt19937_64 rng{base.seed};
  burn::PendingReads reads;
  const auto every = std::max<std::int64_t>(base.steps / 20, 1);
  for (std::int64_t i = 0; i < base.steps; ++i) {
    const auto loss = step(result.net, optim, gpt2::learning_rate(base, i), batch_of(text, base, rng, device));
    reads.add(loss, [&, i](const TensorData& x) {
      result.losses.push_back(x.as_slice<float>()[0]);
      if (i % every == 0 || i + 1 == base.steps)
        out << fmt::format("step {:5}  loss {:.4f}\n", i, result.losses.back());
    });
    reads.poll();
  }
  reads.finish();

  result.merged = nn::merge(result.net);
  const auto piece = batch_of(text, base, rng, device.inner()).narrow(1, 0, base.context);
  const auto logits = [&](const Gpt2& net) {
    const auto valid = net.valid();
    return valid.logits(valid.hidden(piece));
  };
  result.difference = (logits(result.net) - logits(result.merged)).abs().max().item();
  out << fmt::format("merged, the logits differ by at most {:.1e}\n", result.difference);
  if (!base.losses.empty()) {
    std::ofstream file{base.losses};
    for (const float loss : result.losses) file << fmt::format("{:.6f}\n", loss);
    if (!file.flush())
      throw burn::Error(burn::StatusCode::unavailable, fmt::format("lora: cannot write {}", base.losses.string()));
  }
  if (!options.adapters.empty()) nn::into_record_group(result.net, nn::lora_adapters()).save(options.adapters);
  return result;
}

}  // namespace lora
