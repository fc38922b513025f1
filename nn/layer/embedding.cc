#include "nn/layer/embedding.h"

#include "nn/module/checks.h"

namespace burn::nn {

Embedding EmbeddingConfig::init(const Device& device) const {
  detail::check_at_least("EmbeddingConfig", "n_embedding", n_embedding, 1);
  detail::check_at_least("EmbeddingConfig", "d_model", d_model, 1);
  return {.weight = initializer.init<2>({n_embedding, d_model}, device, n_embedding, d_model), .sparse = sparse};
}

client::Value Embedding::apply(const client::Value& indices, const client::Site& site) const {
  client::fail_if_empty(indices, "embedding", site);
  return detail::embedding(detail::held(weight.slot(), "Embedding: weight", site), indices, sparse, site);
}

client::Value detail::embedding(const client::Value& table, const client::Value& indices, bool sparse,
                                const client::Site& site) {
  client::fail_if_empty(table, "embedding: the table", site);
  client::fail_if_empty(indices, "embedding", site);
  const auto flat = client::reshape(indices, ir::Shape{indices.type().num_elements()}, site);
  ir::Shape shape = indices.shape();
  shape.push_back(table.dim(1));
  const auto rows =  // [count, d_model] -> [..., d_model]
      sparse ? client::select_rows_sparse(table, flat, site) : client::select_rows(table, 0, flat, site);
  return client::reshape(rows, shape, site);
}

}  // namespace burn::nn
