// Parameters and running statistics: the tensors of a module that training changes and records store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn {

// Identifies a parameter during the life of the process: the key of its gradient and of its optimizer state. Copies
// share it: within one module they are one parameter at several places (nn/module/tied.h). Loading a record keeps it;
// nn::fresh() assigns a new one.
using ParamId = std::uint64_t;
ParamId new_param_id();

namespace nn {
class Reparameterization;  // nn/module/reparameterization.h

// Conversion of a parameter's values for records: `save` computes the record's values, `load` is its inverse.
struct RecordMapping {
  std::function<client::Value(const client::Value&)> load, save;
};
}  // namespace nn

// A tensor in a module, without its rank and kind: what visitors, records and optimizers work on.
struct Slot {
  enum class Role { parameter, state };  // state: kept in records, not optimized (running statistics)
  Role role = Role::parameter;
  ParamId id = 0;
  client::Value value;
  bool is_frozen = false;                              // gets no gradient; used where there is no tape that would tell
  std::shared_ptr<const nn::RecordMapping> mapping{};  // null: a record stores the values unchanged

  bool is_trainable() const { return role == Role::parameter && value.is_tracked(); }
  // Whether it is a leaf of the tape, or would be one on an autodiff device.
  bool wants_grad() const {
    if (role != Role::parameter || !ir::is_floating(value.dtype())) return false;
    return value.is_autodiff() ? value.is_tracked() : !is_frozen;
  }
  // Replaces the values, on an autodiff device or not. A frozen parameter stays frozen.
  void put(const client::Value& numbers, bool is_autodiff) {
    const bool is_leaf = wants_grad();
    if (role == Role::parameter) is_frozen = !is_leaf && ir::is_floating(value.dtype());
    if (!is_autodiff || role == Role::state)
      value = numbers.inner();
    else
      value = is_leaf ? client::require_grad(numbers) : numbers.from_inner();
  }
  // Freezes a parameter, or makes it trainable again.
  void set_require_grad(bool wanted) {
    if (role != Role::parameter || !ir::is_floating(value.dtype())) return;
    is_frozen = !wanted;
    if (!wanted)
      value = value.detach();
    else if (value.is_autodiff() && !value.is_tracked())
      value = client::require_grad(value);
  }
};

// Further parameters from which, together with the parameter's own values, its tensor is computed (apply_lora).
struct Adapter {
  std::shared_ptr<const nn::Reparameterization> how;  // null: no adapter
  std::vector<Slot> slots;                            // in the order of how->adapter_names()
};

// A parameter without its rank and kind. Layers compute with value(). slot() holds the parameter's own values; without
// an adapter, value() is the same.
class ParamBase {
 public:
  ParamId id() const { return slot_.id; }
  Slot& slot() { return slot_; }
  const Slot& slot() const { return slot_; }
  Adapter& adapter() { return adapter_; }
  const Adapter& adapter() const { return adapter_; }
  bool is_adapted() const { return adapter_.how != nullptr; }
  client::Value value(const client::Site& site) const { return is_adapted() ? adapted(site) : slot_.value; }

 protected:
  ParamBase() = default;
  Slot slot_;

 private:
  client::Value adapted(const client::Site& site) const;

  Adapter adapter_;
};

// A parameter. On an autodiff device it is a leaf of the tape unless it is frozen, by no_grad() of its module or here.
// A copy is the same parameter: two places of one module that hold copies are trained as one. If only one of them is
// changed (set_require_grad), the next walk over the module throws.
template <int D, Kind K = Float>
class Param : public ParamBase {
 public:
  Param() = default;
  Param(const Tensor<D, K>& initial) {  // NOLINT: implicit
    slot_.id = new_param_id();
    slot_.value = initial.value();
    if constexpr (std::same_as<K, Float>) {
      if (slot_.value.is_autodiff()) slot_.value = client::require_grad(slot_.value);
    }
  }

  // Errors (thrown): an empty tensor: the module was default-constructed, moved from, or left out of an initializer.
  Tensor<D, K> val(Loc where = Loc::current()) const {
    client::fail_if_empty(slot_.value, "parameter", at(where));
    return Tensor<D, K>{value(at(where))};
  }
  // The same parameter, but records store save(values), and loading a record applies load() to them. Both return a
  // tensor of rank D; load(save(x)) has the shape of x.
  Param with_record_mappers(std::function<Tensor<D, K>(const Tensor<D, K>&)> load,
                            std::function<Tensor<D, K>(const Tensor<D, K>&)> save) const {
    const auto untyped = [](std::function<Tensor<D, K>(const Tensor<D, K>&)> f) {
      return [f = std::move(f)](const client::Value& x) { return f(Tensor<D, K>{x}).value(); };
    };
    Param copy = *this;
    copy.slot_.mapping = std::make_shared<const nn::RecordMapping>(
        nn::RecordMapping{untyped(std::move(load)), untyped(std::move(save))});
    return copy;
  }
  Param set_require_grad(bool wanted) const {
    Param copy = *this;
    if (slot_.value.has_value()) copy.slot_.set_require_grad(wanted);
    return copy;
  }
};

// A statistic that forward() itself updates in training (BatchNorm), hence writable in a const module. A copy is
// independent, also within one module, where parameters would be tied. One thread at a time.
template <int D>
class RunningState {
 public:
  RunningState() = default;
  RunningState(const Tensor<D>& initial) {  // NOLINT: implicit
    slot_.role = Slot::Role::state;
    slot_.id = new_param_id();
    slot_.value = initial.value().inner();
  }

  Tensor<D> val(Loc where = Loc::current()) const {  // on the inner device: it has no gradient
    client::fail_if_empty(slot_.value, "running state", at(where));
    return Tensor<D>{slot_.value};
  }
  // If `value` cannot be computed, because the batch that it depends on failed, the statistic keeps its old value.
  void update(const Tensor<D>& value) const {
    const auto next = value.value().inner();
    const bool replaces =
        slot_.value.has_value() && slot_.value.type() == next.type() && slot_.value.device() == next.device();
    slot_.value = replaces ? client::kept_if_failed(next, slot_.value, {}) : next;
  }
  Slot& slot() { return slot_; }
  const Slot& slot() const { return slot_; }

 private:
  mutable Slot slot_;
};

// For Device::place(): the same parameter on another device. It keeps its id, so its gradients and optimizer state, and
// whether it is frozen.
template <int D, Kind K>
Param<D, K> place_on(const Device& device, const Param<D, K>& param, const SplitAlong& split,
                     const client::Site& site) {
  auto placed = param;
  auto& slot = placed.slot();
  slot.put(client::placed_on(device, slot.value.inner(), split, site), slot.value.is_autodiff());
  return placed;
}

}  // namespace burn
