// Parameters whose tensor is computed from their own numbers and from further, small parameters: adapters. The base
// stays as it is, and the adapters are trained: LoRA (nn/module/lora.h) is one kind.
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

// Immutable, shared by parameters and threads. `adapters` are in the order of adapter_names(), of the tape of the base.
class Reparameterization {
 public:
  virtual ~Reparameterization() = default;
  virtual std::string_view name() const = 0;  // "lora": printed
  // The last part of the adapters' paths: "lora_a" of "linear.weight.lora_a".
  virtual std::span<const std::string_view> adapter_names() const = 0;
  // The tensor that layers compute with, of the base's shape and dtype.
  virtual client::Value value(const client::Value& base, std::span<const Slot> adapters,
                              const client::Site& site) const = 0;
  // x value() + bias, of a base that is a matrix; for kinds that do with less than the whole matrix.
  virtual client::Value product(const client::Value& x, const client::Value& base, std::span<const Slot> adapters,
                                const client::Value* bias, client::LinearLayout layout,
                                const client::Site& site) const {
    return client::linear(x, value(base, adapters, site), bias, site, layout);
  }
};

// The adapter of the parameter with these paths, or nothing: it stays as it is.
using MakeAdapter = std::function<std::optional<Adapter>(const std::vector<std::string>& paths, const Slot& base)>;

namespace detail {
void apply_reparameterization(const ModuleWalk& walk, const MakeAdapter& make);
void merge_adapters(const ModuleWalk& walk);
}  // namespace detail

// A parameter of an adapter with these numbers, trained where the base's device has a tape.
Slot adapter_slot(const client::Value& numbers, const Slot& base);

// The module with every parameter frozen, and with the adapters that `make` gives, which are trained. It is asked once
// for each parameter, and a parameter at several places stays one, with one adapter. Errors (thrown): a parameter that
// has an adapter already; one that `make` adapts to another shape or dtype; `make` gave none at all.
template <Module M>
M apply_reparameterization(const M& module, const MakeAdapter& make) {
  M copy = module;
  detail::apply_reparameterization(copy.walk(), make);
  return copy;
}

// The module without adapters: each adapted parameter has the numbers that it was used with. They stay frozen, until
// module.require_grad().
template <Module M>
M merge(const M& module) {
  M copy = module;
  detail::merge_adapters(copy.walk());
  return copy;
}

}  // namespace burn::nn
