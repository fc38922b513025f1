// Code shared by the encoder and the decoder of a transformer: their configuration, and running their layers in order.
#pragma once

#include "nn/activation/activation_module.h"
#include "nn/attention/attention.h"
#include "nn/attention/feed_forward.h"
#include "nn/module/checks.h"
#include "nn/norm/layer_norm.h"

namespace burn::nn {

// The configuration of a Network whose `layers` all have the same options.
template <typename Network>
struct TransformerConfig {
  using Layer = typename decltype(Network::layers)::value_type;

  std::int64_t d_model = 0, d_ff = 0, n_heads = 0, n_layers = 0;
  double dropout = 0.1;
  bool norm_first = false, quiet_softmax = false;
  Initializer initializer = default_initializer();
  AnyActivationConfig activation = "gelu";  // any
  double layer_norm_eps = 1e-5;
  BURN_CONFIG(TransformerConfig, d_model, d_ff, n_heads, n_layers, dropout, norm_first, quiet_softmax, initializer,
              activation, layer_norm_eps)

  Network init(const Device& device) const;  // Errors: sizes below 1, heads that do not divide d_model.
  Layer init_layer(const Device& device) const;

 private:
  MultiHeadAttentionConfig attention() const {
    return {.d_model = d_model,
            .n_heads = n_heads,
            .dropout = dropout,
            .quiet_softmax = quiet_softmax,
            .initializer = initializer};
  }
  PositionWiseFeedForwardConfig feed_forward() const {
    return {.d_model = d_model, .d_ff = d_ff, .dropout = dropout, .initializer = initializer, .activation = activation};
  }
  LayerNormConfig norm() const { return {.d_model = d_model, .epsilon = layer_norm_eps}; }
};

namespace detail {

template <typename Network>
Network init_layers(const char* config_name, const TransformerConfig<Network>& config, const Device& device) {
  check_at_least(config_name, "n_layers", config.n_layers, 1);
  Network network;
  for (std::int64_t i = 0; i < config.n_layers; ++i) network.layers.push_back(config.init_layer(device));
  return network;
}

}  // namespace detail
}  // namespace burn::nn
