#include "nn/layer/embedding.h"

#include <string>

#include "client/tensor/functions.h"
#include "nn/module/checks.h"

namespace burn::nn {

Embedding EmbeddingConfig::init(const Device& device) const {
  detail::check_at_least("EmbeddingConfig", "n_embedding", n_embedding, 1);
  detail::check_at_least("EmbeddingConfig", "d_model", d_model, 1);
  Tensor<2> weight = initializer.init<2>({n_embedding, d_model}, device, n_embedding, d_model);
  std::optional<std::int64_t> padding;
  if (padding_index) {
    padding = *padding_index < 0 ? *padding_index + n_embedding : *padding_index;
    if (*padding < 0 || *padding >= n_embedding) {
      detail::reject("EmbeddingConfig", "padding_index is " + std::to_string(*padding_index) + ", outside the " +
                                            std::to_string(n_embedding) + " rows of the table");
    }
    weight = weight.slice_fill({s(*padding, *padding + 1)}, 0);
  }
  return {.weight = weight, .sparse = sparse, .padding_index = padding};
}

client::Value Embedding::apply(const client::Value& indices, const client::Site& site) const {
  client::fail_if_empty(indices, "embedding", site);
  client::Value found = detail::embedding(detail::held(weight, "Embedding: weight", site), indices, sparse, site);
  if (!padding_index || !found.is_tracked()) return found;
  const client::Value padding = client::constant(client::place_of(indices), *padding_index, indices.dtype(), site);
  const client::Value is_padding = client::pointwise(ir::PointwiseFn::equal, indices, padding, site);
  const client::Value everywhere = client::unsqueeze(is_padding, {indices.rank()}, site);  // [..., 1]
  return client::select(everywhere, found.detach(), found, site);
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
