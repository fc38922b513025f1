// GPT-2's smallest model as it is usually trained: 12 layers of 768 with 12 heads, a vocabulary of 50,304, products in
// bf16, weights and loss in f32. The model is that of examples/gpt2.
#pragma once

#include <utility>
#include <vector>

#include "client/batch_scope.h"
#include "examples/gpt2/generate.h"

namespace burn::bench {

inline constexpr gpt2::Gpt2Config kGpt2{};
inline constexpr std::int64_t kPieces = 16;  // pieces of 1,024 tokens in a batch of one device

// Meaningless tokens, whose rows in the embedding table are as far apart as those of a text.
inline TensorData gpt2_tokens(std::int64_t rows, std::int64_t length) {
  std::vector<std::int64_t> data(static_cast<std::size_t>(rows * length));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::int64_t>(i * i % 50021) % kGpt2.vocabulary;
  return {std::move(data), {rows, length}};
}

inline optim::AdamWConfig gpt2_optimizer() { return {.epsilon = 1e-8, .weight_decay = 0.1}; }

// The loss of predicting the next tokens of `text` [pieces, length + 1].
inline Tensor<1> gpt2_loss(const gpt2::Gpt2& model, const Tensor<2, Int>& text) {
  const Autocast scope{DType::bf16};
  const auto length = text.dim(1) - 1;
  return model.loss(text.narrow(1, 0, length), text.narrow(1, 1, length));
}

// Calls `body` with a captured training step: a function that returns the loss, on `pieces` of text that are on the
// device, marked as a batch. `is_split`: Optimizer::split_state().
template <typename Body>
auto with_gpt2_step(const Device& device, std::int64_t pieces, bool is_split, const Body& body) {
  const Device ad = device.autodiff();
  ad.seed(1);
  gpt2::Gpt2 net = kGpt2.init(ad);
  auto optim = gpt2_optimizer().init<gpt2::Gpt2>();
  if (is_split) optim.split_state();
  auto step = capture(
      ad, [](gpt2::Gpt2& model, optim::Optimizer<gpt2::Gpt2>& optimizer, Scalar lr, const Tensor<2, Int>& text) {
        const Autocast scope{DType::bf16};
        auto loss = gpt2_loss(model, text);
        model = optimizer.step(lr, std::move(model), GradientsParams::from_grads(loss.backward(), model));
        return loss;
      });
  const auto text = [&] {
    const BatchScope batch;
    return Tensor<2, Int>::from_data(gpt2_tokens(pieces, kGpt2.context + 1), ad);
  }();
  return body([&] { return step(net, optim, 1e-4, text); });
}

}  // namespace burn::bench
