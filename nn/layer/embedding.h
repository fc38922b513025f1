// A table of vectors, looked up by index.
#pragma once

#include <optional>

#include "nn/module/forward.h"
#include "nn/module/initializer.h"
#include "nn/module/module.h"

namespace burn::nn {

namespace detail {
// Looks up rows of `table` [n, d]: int [...] -> [..., d]. `sparse`: see EmbeddingConfig.
client::Value embedding(const client::Value& table, const client::Value& indices, bool sparse,
                        const client::Site& site);
}  // namespace detail

struct Embedding {
  Param<2> weight;                              // [n_embedding, d_model]
  bool sparse = false;                          // whether the weight's gradient is sparse
  std::optional<std::int64_t> padding_index{};  // the row that gets no gradient
  BURN_MODULE(Embedding, weight)

  // Shapes: [...] -> [..., d_model]. An index outside the table is an error of the run.
  BURN_FORWARD("embedding", (template <int D>), Tensor<D + 1>, (const Tensor<D, Int>& indices), (indices.value()))
  client::Value apply(const client::Value& indices, const client::Site& site) const;
};

struct EmbeddingConfig {
  std::int64_t n_embedding = 0, d_model = 0;
  Initializer initializer = Initializer::normal(0, 1);
  // The gradient of the weight has only the rows that were looked up, and a step of SgdConfig (without momentum),
  // AdamConfig or AdaGradConfig updates only these, at a cost proportional to their number: for large tables of which a
  // batch uses a few rows. Adam's moments of the other rows do not change, as in PyTorch's SparseAdam. If the weight
  // has other uses as well (an output layer tied to it), the gradient is dense.
  bool sparse = false;
  // The row for padding: initialized to zeros and not trained. A negative index counts from the end.
  std::optional<std::int64_t> padding_index{};
  BURN_CONFIG(EmbeddingConfig, n_embedding, d_model, initializer, sparse, padding_index)

  Embedding init(const Device& device) const;  // Errors: a size below 1; a padding index outside the table.
};

}  // namespace burn::nn
