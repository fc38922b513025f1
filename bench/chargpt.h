// A small language model over characters: GPT-2's blocks (normalisation first, GELU, learned positions), 6 layers of
// 384 with 6 heads over 256 characters, batch 12.
#pragma once

#include "burn/burn.h"

namespace burn::bench {

inline constexpr std::int64_t kVocabulary = 65, kContext = 256, kBatch = 12, kModel = 384, kLayers = 6, kHeads = 6;

struct CharGpt {
  nn::Embedding tokens, positions;
  nn::TransformerEncoder blocks;
  nn::LayerNorm norm;
  nn::Linear head;
  BURN_MODULE(CharGpt, tokens, positions, blocks, norm, head)

  static CharGpt init(const Device& device) {
    const auto normal = nn::Initializer::normal(0, 0.02);
    return {
        .tokens =
            nn::EmbeddingConfig{.n_embedding = kVocabulary, .d_model = kModel, .initializer = normal}.init(device),
        .positions =
            nn::EmbeddingConfig{.n_embedding = kContext, .d_model = kModel, .initializer = normal}.init(device),
        .blocks = nn::TransformerEncoderConfig{.d_model = kModel,
                                               .d_ff = 4 * kModel,
                                               .n_heads = kHeads,
                                               .n_layers = kLayers,
                                               .dropout = 0,
                                               .norm_first = true,
                                               .initializer = normal}
                      .init(device),
        .norm = nn::LayerNormConfig{.d_model = kModel}.init(device),
        .head = nn::LinearConfig{.d_input = kModel, .d_output = kVocabulary, .bias = false, .initializer = normal}.init(
            device)};
  }

  Tensor<2> forward(const Tensor<2, Int>& text) const {  // [batch, context] -> [batch * context, vocabulary]
    const auto length = text.dims()[1];
    const auto where = Tensor<2, Int>{Tensor<1, Int>::arange(0, length, text.device()).reshape<2>({1, length})};
    const Tensor<3> x = tokens(text) + positions(where);
    return head(norm(blocks({.tensor = x, .is_causal = true}))).flatten<2>(0, 1);
  }
};

// The inputs, and for each the character that follows it.
inline std::pair<TensorData, TensorData> chargpt_data() {
  std::vector<std::int64_t> text(kBatch * kContext), next(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<std::int64_t>(i * i % 101 % kVocabulary);
    next[i] = static_cast<std::int64_t>((i + 1) * (i + 1) % 101 % kVocabulary);
  }
  return {TensorData(std::move(text), {kBatch, kContext}), TensorData(std::move(next), {kBatch * kContext})};
}

}  // namespace burn::bench
