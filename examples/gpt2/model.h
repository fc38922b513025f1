// GPT-2 (Radford et al. 2019): token and position embeddings, pre-norm blocks, one matmul for queries, keys and values,
// tanh-approximated GELU, and an output head that shares the embedding's table.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "burn/burn.h"

namespace gpt2 {

using namespace burn::prelude;

// The keys and values of a block for the tokens so far: [batch, heads, length, model / heads].
struct KeyValue {
  Tensor<4> key, value;
};
// The keys and values of all blocks; empty before the first token.
using Cache = std::vector<KeyValue>;

struct Block {
  nn::LayerNorm norm_1, norm_2;
  nn::Linear qkv, project, expand, contract;
  std::int64_t heads = 1;
  BURN_MODULE(Block, norm_1, norm_2, qkv, project, expand, contract)

  // `past`: keys and values to prepend; replaced with the extended ones; null: none. Shapes: [batch, length, model] ->
  // the same.
  Tensor<3> attend(const Tensor<3>& x, std::optional<KeyValue>* past) const {
    const auto [batch, length, model] = x.dims();
    const auto parts = qkv(x).reshape<5>({batch, length, 3, heads, model / heads});
    const auto part = [&](std::int64_t i) { return parts.narrow(2, i, 1).squeeze_dim<4>(2).swap_dims(1, 2); };
    const auto query = part(0);
    auto key = part(1), value = part(2);
    if (past != nullptr) {
      if (*past) {
        key = Tensor<4>::cat({(*past)->key, key}, 2);
        value = Tensor<4>::cat({(*past)->value, value}, 2);
      }
      *past = KeyValue{key, value};
    }
    const auto y = burn::module::attention<4>(query, key, value, std::nullopt, std::nullopt, {.is_causal = length > 1});
    return project(y.swap_dims(1, 2).reshape<3>({batch, length, model}));
  }

  Tensor<3> forward(const Tensor<3>& input, std::optional<KeyValue>* past = nullptr) const {
    const auto x = input + attend(norm_1(input), past);
    return x + contract(burn::activation::gelu_approximate(expand(norm_2(x))));
  }
};

struct Gpt2 {
  nn::Embedding tokens, positions;
  std::vector<Block> blocks;
  nn::LayerNorm norm;
  BURN_MODULE(Gpt2, tokens, positions, blocks, norm)

  std::int64_t context() const { return positions.weight.val().dim(0); }

  // [batch, length] -> [batch, length, model]. The tokens follow those in the cache, to which their keys and values are
  // added.
  Tensor<3> hidden(const Tensor<2, Int>& text, Cache* cache = nullptr) const {
    const auto length = text.dim(1);
    const std::int64_t before = cache != nullptr && !cache->empty() ? cache->front().key.dim(2) : 0;
    Tensor<3> x = tokens(text);
    if (cache == nullptr) {
      x = x + positions.weight.val().narrow(0, 0, length).unsqueeze_dim<3>(0);
    } else {  // `before` is an argument of the program, not a constant in it
      x = x + positions((Tensor<1, Int>::arange(0, length, text.device()) + before).reshape<2>({1, length}));
    }
    Cache next;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (cache == nullptr) {
        x = blocks[i].forward(x);
        continue;
      }
      std::optional<KeyValue> past;
      if (before > 0) past = std::move((*cache)[i]);
      x = blocks[i].forward(x, &past);
      if (past) next.push_back(*std::move(past));  // attend() has set it
    }
    if (cache != nullptr) *cache = std::move(next);
    return norm(x);
  }

  // [.., model] -> [.., vocabulary]
  template <int D>
  Tensor<D> logits(const Tensor<D>& hidden) const {
    return burn::module::linear(hidden, tokens.weight.val(), std::nullopt, burn::LinearLayout::col);
  }

  // The mean cross-entropy of `targets`, each of which is the token that follows the one at its position in `text`:
  // both [batch, length].
  Tensor<1> loss(const Tensor<2, Int>& text, const Tensor<2, Int>& targets) const {
    return nn::CrossEntropyLoss{}(logits(hidden(text)).flatten<2>(0, 1), targets.reshape<1>({-1}));
  }
};

// Sizes of GPT-2's smallest model, its vocabulary rounded up to a multiple of 128.
struct Gpt2Config {
  std::int64_t vocabulary = 50304, context = 1024, model = 768, heads = 12, layers = 12;
  BURN_CONFIG(Gpt2Config, vocabulary, context, model, heads, layers)

  // Errors: sizes below 1; heads that do not divide the model.
  Gpt2 init(const Device& device) const {
    if (heads < 1 || layers < 1 || model % heads != 0) {
      throw burn::Error(burn::StatusCode::invalid_argument, "Gpt2Config: " + std::to_string(layers) + " layers, " +
                                                                std::to_string(heads) + " heads in " +
                                                                std::to_string(model));
    }
    const double deviation = 0.02;
    const auto table = [&](std::int64_t rows) {
      return nn::EmbeddingConfig{
          .n_embedding = rows, .d_model = model, .initializer = nn::Initializer::normal(0, deviation)}
          .init(device);
    };
    const auto linear = [&](std::int64_t from, std::int64_t to, double spread) {
      auto layer =
          nn::LinearConfig{
              .d_input = from, .d_output = to, .bias = false, .initializer = nn::Initializer::normal(0, spread)}
              .init(device);
      layer.bias = Tensor<1>::zeros({to}, device);
      return layer;
    };
    const nn::LayerNormConfig norm{.d_model = model};
    // Projections into the residual stream get smaller initial weights, the more of them there are.
    const double residual = deviation / std::sqrt(2.0 * static_cast<double>(layers));
    Gpt2 net{.tokens = table(vocabulary), .positions = table(context), .blocks = {}, .norm = norm.init(device)};
    for (std::int64_t i = 0; i < layers; ++i) {
      net.blocks.push_back({.norm_1 = norm.init(device),
                            .norm_2 = norm.init(device),
                            .qkv = linear(model, 3 * model, deviation),
                            .project = linear(model, model, residual),
                            .expand = linear(model, 4 * model, deviation),
                            .contract = linear(4 * model, model, residual),
                            .heads = heads});
    }
    return net;
  }
};

}  // namespace gpt2
