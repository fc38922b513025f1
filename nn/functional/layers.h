// module::batch_norm, layer_norm, embedding and ctc_loss. An include of nn/functional.h.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"
#include "nn/norm/layer_norm.h"

namespace burn::module {

namespace detail {
client::Value batch_norm(const client::Value& x, const client::Value& gamma, const client::Value& beta,
                         const client::Value& mean, const client::Value& var, double epsilon, const client::Site& site);
}  // namespace detail

// gamma (x - mean) / sqrt(var + epsilon) + beta, per channel, with the given statistics. Shapes: x [n, c, ...], the
// others [c]. Errors: other channels.
template <int D>
Tensor<D> batch_norm(const Tensor<D>& x, const Tensor<1>& gamma, const Tensor<1>& beta, const Tensor<1>& mean,
                     const Tensor<1>& var, double epsilon = 1e-5, Loc where = Loc::current()) {
  static_assert(D >= 2, "there is no channel in a tensor of rank 1");
  return Tensor<D>{detail::batch_norm(x.value(), gamma.value(), beta.value(), mean.value(), var.value(), epsilon,
                                      at(where, "batch_norm"))};
}

// gamma (x - mean) / sqrt(var + epsilon) + beta over the last dim, with its biased variance. Shapes: x [..., d], gamma
// and beta [d]. Errors: another last dim.
template <int D>
Tensor<D> layer_norm(const Tensor<D>& x, const Tensor<1>& gamma, const std::optional<Tensor<1>>& beta = std::nullopt,
                     double epsilon = 1e-5, Loc where = Loc::current()) {
  return Tensor<D>{nn::detail::layer_norm(x.value(), gamma.value(), beta ? &beta->value() : nullptr, epsilon,
                                          at(where, "layer_norm"))};
}

// Rows of a table. Shapes: weights [v, d], indices [n, m] -> [n, m, d]. An index outside 0 .. v - 1 is reported when
// the result is read.
Tensor<3> embedding(const Tensor<2>& weights, const Tensor<2, Int>& indices, Loc where = Loc::current());

// Rows of a table, like table.select(0, indices), but a table that is a parameter and is passed directly gets a sparse
// gradient: see nn::EmbeddingConfig::sparse. Shapes: table [v, ...], indices [n] -> [n, ...].
template <int D>
Tensor<D> select_sparse(const Tensor<D>& table, const Tensor<1, Int>& indices, Loc where = Loc::current()) {
  return Tensor<D>{client::select_rows_sparse(table.value(), indices.value(), at(where, "select_sparse"))};
}

// The loss of each sequence of connectionist temporal classification (Graves et al., 2006); nn::CTCLoss reduces them.
// Shapes: log_probs [t, n, c], targets [n, s], lengths [n] -> [n]. Without a possible alignment the loss is infinite.
Tensor<1> ctc_loss(const Tensor<3>& log_probs, const Tensor<2, Int>& targets, const Tensor<1, Int>& input_lengths,
                   const Tensor<1, Int>& target_lengths, std::int64_t blank = 0, Loc where = Loc::current());

}  // namespace burn::module
