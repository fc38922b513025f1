// Methods of Tensor<D, K> for gradients, on a device.autodiff(). A base class of it: include client/tensor/tensor.h.
#pragma once

#include <concepts>
#include <optional>

#include "client/ops/gradients.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

template <int D, Kind K>
class GradientMethods {
  using Tensor = burn::Tensor<D, K>;

 public:
  Tensor require_grad(Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::require_grad(held("require_grad", where))};
  }
  // Returns a new leaf, or an untracked tensor.
  Tensor set_require_grad(bool requires_grad, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    const auto& x = held("set_require_grad", where);
    return Tensor{requires_grad ? client::require_grad(x) : x.detach()};
  }
  Tensor no_grad(Loc where = Loc::current()) const { return Tensor{held("no_grad", where).detach()}; }
  bool is_require_grad() const { return value().is_tracked() && client::is_leaf(value()); }
  Tensor detach(Loc where = Loc::current()) const { return Tensor{held("detach", where).detach()}; }
  Tensor inner(Loc where = Loc::current()) const { return Tensor{held("inner", where).inner()}; }
  static Tensor from_inner(const Tensor& x, Loc where = Loc::current()) {
    return Tensor{held(x, "from_inner", where).from_inner()};
  }
  // Gradients of this tensor, of one element, with respect to the leaves that it depends on. Errors (thrown): more than
  // one element (unless a gradient is passed, below); no leaf.
  Gradients backward(const BackwardOptions& options = {}, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return client::backward(held("backward", where), options, at(where, "backward"));
  }
  // The same for sum(this * gradient), of any shape.
  Gradients backward(const Tensor& gradient, const BackwardOptions& options = {}, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return client::backward(held("backward", where), held(gradient, "backward: the gradient", where), options,
                            at(where, "backward"));
  }
  // Sets the checkpointing strategy (autodiff/checkpointing.h) of backward passes that visit this tensor or begin at
  // it. Applies to its copies, too. Errors: no gradient flows through it.
  Tensor with_gradient_checkpointing_strategy(GradientCheckpointingStrategy strategy, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    client::set_checkpointing(held("with_gradient_checkpointing_strategy", where), strategy,
                              at(where, "with_gradient_checkpointing_strategy"));
    return static_cast<const Tensor&>(*this);
  }
  // The gradient of this leaf, on the inner device.
  std::optional<Tensor> grad(const Gradients& gradients, Loc where = Loc::current()) const {
    return wrap(gradients.get(held("grad", where)));
  }
  std::optional<Tensor> grad_remove(Gradients& gradients, Loc where = Loc::current()) const {
    return wrap(gradients.remove(held("grad_remove", where)));
  }
  // Replaces the gradient of this leaf.
  void grad_replace(Gradients& gradients, const Tensor& gradient, Loc where = Loc::current()) const {
    gradients.replace(held("grad_replace", where), held(gradient, "grad_replace: the gradient", where).inner());
  }

 private:
  static const client::Value& held(const Tensor& x, const char* what, const Loc& where) {
    client::fail_if_empty(x.value(), what, at(where));
    return x.value();
  }
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
  const client::Value& held(const char* what, const Loc& where) const {
    return held(static_cast<const Tensor&>(*this), what, where);
  }
  static std::optional<Tensor> wrap(const std::optional<client::Value>& value) {
    return value ? std::optional<Tensor>{Tensor{*value}} : std::nullopt;
  }
};

}  // namespace detail
}  // namespace burn
