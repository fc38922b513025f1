// Parameters whose tensor is computed from their own values (the base) and from small additional parameters (adapters).
// The base is frozen and the adapters are trained. LoRA (nn/module/lora.h) is one kind.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/ops/ops.h"
#include "nn/module/module.h"

namespace burn::nn {

// Immutable, shared by parameters and threads. `adapters` are in the order of adapter_names() and on the tape of the
// base.
class Reparameterization {
 public:
  virtual ~Reparameterization() = default;
  virtual std::string_view name() const = 0;  // "lora": the name in printed modules and paths
  // The last part of the adapters' paths: "lora_a" of "linear.weight.lora_a".
  virtual std::span<const std::string_view> adapter_names() const = 0;
  // The tensor that layers compute with; it has the base's shape and dtype.
  virtual client::Value value(const client::Value& base, std::span<const Slot> adapters,
                              const client::Site& site) const = 0;
  // x value() + bias, for a base that is a matrix. Override it if it can be computed without forming the whole matrix.
  virtual client::Value product(const client::Value& x, const client::Value& base, std::span<const Slot> adapters,
                                const client::Value* bias, client::LinearLayout layout,
                                const client::Site& site) const {
    return client::linear(x, value(base, adapters, site), bias, site, layout);
  }
};

// Returns the adapter for the parameter with these paths; std::nullopt: it is not adapted.
using MakeAdapter = std::function<std::optional<Adapter>(const std::vector<std::string>& paths, const Slot& base)>;

namespace detail {
void apply_reparameterization(const ModuleWalk& walk, const MakeAdapter& make);
void merge_adapters(const ModuleWalk& walk);
}  // namespace detail

// A parameter of an adapter with these values; it is trained if the base's device has a tape.
Slot adapter_slot(const client::Value& numbers, const Slot& base);

// Returns the module with every parameter frozen, and with the adapters that `make` returns, which are trained. `make`
// is called once for each parameter; a parameter at several places gets one adapter. Errors (thrown): a parameter that
// has an adapter already; an adapter whose value() has another shape or dtype; `make` returned no adapter at all.
template <Module M>
M apply_reparameterization(const M& module, const MakeAdapter& make) {
  M copy = module;
  detail::apply_reparameterization(copy.walk(), make);
  return copy;
}

// Returns the module without adapters: each adapted parameter gets the values that layers computed with. They stay
// frozen until module.require_grad().
template <Module M>
M merge(const M& module) {
  M copy = module;
  detail::merge_adapters(copy.walk());
  return copy;
}

}  // namespace burn::nn
