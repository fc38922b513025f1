// The functions that modules are made of, for tensors: burn::module::attention(q, k, v). The templates check the rank
// and call client/. Convolutions, pools, samplings and single layers are in nn/functional/.
#pragma once

#include "client/tensor/tensor.h"
#include "nn/functional/convolution.h"
#include "nn/functional/layers.h"
#include "nn/functional/pooling.h"
#include "nn/functional/sampling.h"

namespace burn {

using client::AttentionOptions;
using AttentionModuleOptions = AttentionOptions;  // as Burn calls it
using client::LinearLayout;

namespace module {

// softmax(scale q k^T) v over the keys, without storing all scores at once. Applied in this order: softcap, `mask`
// (true: hidden) and is_causal (key j is hidden from query i where j > i + m - n), `bias`. A query from which every key
// is hidden yields 0. Shapes: [..., n, d], [..., m, d], [..., m, e], mask and bias [..., n, m] -> [..., n, e]; dims of
// size 1 before the last two broadcast, in mask and bias the last two as well. Errors: shapes that do not fit; the
// message has both.
template <int D>
Tensor<D> attention(const Tensor<D>& query, const Tensor<D>& key, const Tensor<D>& value,
                    const std::optional<Tensor<D, Bool>>& mask = std::nullopt,
                    const std::optional<Tensor<D>>& bias = std::nullopt, const AttentionOptions& options = {},
                    Loc where = Loc::current()) {
  return Tensor<D>{client::attention(query.value(), key.value(), value.value(), mask ? &mask->value() : nullptr,
                                     bias ? &bias->value() : nullptr, options, at(where, "attention"))};
}

// The same, but stores all scores: slower, for comparison.
template <int D>
Tensor<D> attention_fallback(const Tensor<D>& query, const Tensor<D>& key, const Tensor<D>& value,
                             const std::optional<Tensor<D, Bool>>& mask = std::nullopt,
                             const std::optional<Tensor<D>>& bias = std::nullopt, const AttentionOptions& options = {},
                             Loc where = Loc::current()) {
  return Tensor<D>{client::attention_fallback(query.value(), key.value(), value.value(),
                                              mask ? &mask->value() : nullptr, bias ? &bias->value() : nullptr, options,
                                              at(where, "attention_fallback"))};
}

// x weight + bias. The weight is [d_input, d_output], or, with LinearLayout::col, [d_output, d_input] as in PyTorch and
// embedding tables. Shapes: [..., d_input] -> [..., d_output]. Errors: another last dim.
template <int D>
Tensor<D> linear(const Tensor<D>& x, const Tensor<2>& weight, const std::optional<Tensor<1>>& bias = std::nullopt,
                 LinearLayout layout = LinearLayout::row, Loc where = Loc::current()) {
  return Tensor<D>{
      client::linear(x.value(), weight.value(), bias ? &bias->value() : nullptr, at(where, "linear"), layout)};
}

}  // namespace module
}  // namespace burn
