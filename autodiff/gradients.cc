#include "client/ops/gradients.h"

namespace burn {

std::optional<client::Value> Gradients::get(const client::Value& leaf) const {
  if (!leaf.is_tracked()) return std::nullopt;
  const auto serial = leaf.tape()->serial;
  if (const auto found = by_serial_.find(serial); found != by_serial_.end()) return found->second;
  const auto sparse = sparse_by_serial_.find(serial);
  return sparse == sparse_by_serial_.end() ? std::nullopt : std::optional{client::to_dense(sparse->second, {})};
}

std::optional<client::Value> Gradients::remove(const client::Value& leaf) {
  auto result = get(leaf);
  if (result) {
    by_serial_.erase(leaf.tape()->serial);
    sparse_by_serial_.erase(leaf.tape()->serial);
  }
  return result;
}

void Gradients::replace(const client::Value& leaf, client::Value gradient) {
  if (!leaf.is_tracked()) return;
  sparse_by_serial_.erase(leaf.tape()->serial);
  put(leaf.tape()->serial, std::move(gradient));
}

void Gradients::put(std::uint64_t serial, client::Value gradient) { by_serial_[serial] = std::move(gradient); }

void Gradients::put(std::uint64_t serial, client::SparseGradient gradient) {
  sparse_by_serial_[serial] = std::move(gradient);
}

std::optional<client::SparseGradient> Gradients::remove_sparse(const client::Value& leaf) {
  if (!leaf.is_tracked()) return std::nullopt;
  auto node = sparse_by_serial_.extract(leaf.tape()->serial);
  return node.empty() ? std::nullopt : std::optional{std::move(node.mapped())};
}

}  // namespace burn
