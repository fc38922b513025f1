#include "nn/embedding.h"

#include "nn/checks.h"

namespace burn::nn {

Embedding EmbeddingConfig::init(const Device& device) const {
  detail::check_at_least("EmbeddingConfig", "n_embedding", n_embedding, 1);
  detail::check_at_least("EmbeddingConfig", "d_model", d_model, 1);
  return {.weight = initializer.init<2>({n_embedding, d_model}, device, n_embedding, d_model)};
}

client::Value Embedding::run(const client::Value& indices, const client::Site& site) const {
  client::fail_if_empty(indices, "embedding", site);
  return detail::embedding(detail::held(weight.slot(), "Embedding: weight", site), indices, site);
}

client::Value detail::embedding(const client::Value& table, const client::Value& indices, const client::Site& site) {
  client::fail_if_empty(table, "embedding: the table", site);
  client::fail_if_empty(indices, "embedding", site);
  const auto flat = client::reshape(indices, ir::Shape{indices.type().num_elements()}, site);
  ir::Shape shape = indices.shape();
  shape.push_back(table.dim(1));
  return client::reshape(client::select_rows(table, 0, flat, site), shape, site);  // [count, d_model] -> [..., d_model]
}

}  // namespace burn::nn
