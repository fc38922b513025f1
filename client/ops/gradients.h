// The result of backward(): a gradient for every tracked leaf that the loss depends on. backward() is defined in
// autodiff/backward.cc; an application that calls it links burn::autodiff (part of burn::burn).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/ops/sparse_gradient.h"
#include "client/value.h"

namespace burn {

// Whether a backward pass recomputes values to save memory: autodiff/checkpointing.h.
enum class GradientCheckpointingStrategy : std::uint8_t { disabled, balanced };

struct BackwardOptions {
  bool retain_graph = false;  // keep the tape, for another backward over it
  bool create_graph = false;  // make the gradients differentiable themselves (implies retain_graph)
};

// A container of gradients by leaf. Holding it changes no tensor. Movable and copyable; one thread at a time.
class Gradients {
 public:
  // The gradient of a leaf; std::nullopt if the loss does not depend on it, or if it was removed. A sparse gradient is
  // converted to a dense tensor.
  std::optional<client::Value> get(const client::Value& leaf) const;
  std::optional<client::Value> remove(const client::Value& leaf);
  void replace(const client::Value& leaf, client::Value gradient);
  // The gradient of a leaf whose uses are all sparse lookups; std::nullopt if it is dense.
  std::optional<client::SparseGradient> remove_sparse(const client::Value& leaf);
  std::size_t size() const { return by_serial_.size() + sparse_by_serial_.size(); }

  void put(std::uint64_t serial, client::Value gradient);
  void put(std::uint64_t serial, client::SparseGradient gradient);

 private:
  std::unordered_map<std::uint64_t, client::Value> by_serial_;
  std::unordered_map<std::uint64_t, client::SparseGradient> sparse_by_serial_;
};

namespace client {
// Sets the strategy of backward passes that visit this value, in place of that of their scope; if several values set
// one, balanced takes precedence over disabled. Errors (thrown): no gradient flows through it.
void set_checkpointing(const Value& value, GradientCheckpointingStrategy strategy, const ir::CallSite& site);

// Gradients of `loss`, one number, with respect to every leaf it depends on. Frees the tape of `loss` unless
// retain_graph is set. Errors (thrown): more or less than one element; `loss` is not tracked; a graph that an earlier
// backward freed; an op without a gradient.
Gradients backward(const Value& loss, const BackwardOptions& options, const ir::CallSite& site);
// Gradients of sum(result * gradient), for a result of any shape. Errors (thrown): a gradient of another shape or
// dtype.
Gradients backward(const Value& result, const Value& gradient, const BackwardOptions& options,
                   const ir::CallSite& site);
}  // namespace client

}  // namespace burn
