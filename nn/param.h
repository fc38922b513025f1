// Parameters and running statistics: the tensors of a module that training changes and records keep.
#pragma once

#include <cstdint>
#include <string>

#include "client/tensor.h"

namespace burn {

// Names a parameter for as long as the process lives: the key of its gradient and of its optimizer state. Copies of a module
// share it; loading a record keeps it.
using ParamId = std::uint64_t;
ParamId new_param_id();

// A tensor in a module, without its rank and kind: what visitors, records and optimizers work on.
struct Slot {
  enum class Role { parameter, state };  // state: kept in records, not optimized (running statistics)
  Role role = Role::parameter;
  ParamId id = 0;
  client::Value value;

  bool is_trainable() const { return role == Role::parameter && value.is_tracked(); }
};

// A parameter. On an autodiff device it is a leaf of the tape unless no_grad() froze it.
template <int D, Kind K = Float>
class Param {
 public:
  Param() = default;
  Param(const Tensor<D, K>& initial) {  // NOLINT: implicit
    slot_.id = new_param_id();
    slot_.value = initial.value();
    if constexpr (std::same_as<K, Float>) {
      if (slot_.value.is_autodiff()) slot_.value = client::require_grad(slot_.value);
    }
  }

  // Errors (thrown): there is none, as the module was default-constructed, moved from, or left out of an initializer.
  Tensor<D, K> val(Loc where = Loc::current()) const {
    client::fail_if_empty(slot_.value, "parameter", at(where));
    return Tensor<D, K>{slot_.value};
  }
  ParamId id() const { return slot_.id; }
  Slot& slot() { return slot_; }
  const Slot& slot() const { return slot_; }

 private:
  Slot slot_;
};

// A statistic that forward() itself renews in training (BatchNorm), hence writable in a const module. A copy of the module has
// its own from then on. One thread at a time.
template <int D>
class RunningState {
 public:
  RunningState() = default;
  RunningState(const Tensor<D>& initial) {  // NOLINT: implicit
    slot_.role = Slot::Role::state;
    slot_.id = new_param_id();
    slot_.value = initial.value().inner();
  }

  Tensor<D> val(Loc where = Loc::current()) const {  // on the inner device: no gradient passes
    client::fail_if_empty(slot_.value, "running state", at(where));
    return Tensor<D>{slot_.value};
  }
  void update(const Tensor<D>& value) const { slot_.value = value.value().inner(); }
  Slot& slot() { return slot_; }
  const Slot& slot() const { return slot_; }

 private:
  mutable Slot slot_;
};

}  // namespace burn
