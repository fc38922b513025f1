// Modules are plain structs; BURN_MODULE names their fields once, and visiting, records, printing and device moves follow.
//
//   struct Net {
//     nn::Conv2d conv1;
//     nn::Linear linear;
//     BURN_MODULE(Net, conv1, linear)
//     Tensor<2> forward(const Tensor<4>& x) const { ... }
//   };
//
// A field is a Param, a RunningState, another module, a std::optional, std::vector or std::array of those, or anything else, which
// is passed over (numbers, flags). The struct stays an aggregate: designated initializers work. Modules are values.
#pragma once

#include <array>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/capture_state.h"
#include "client/device.h"
#include "nn/for_each.h"
#include "nn/param.h"
#include "store/record.h"

namespace burn {

template <typename T>
concept Module = requires { typename T::BurnModule; };

namespace nn::detail {

// The non-template end of every walk over a module. `enter` and `leave` bracket a field that has fields; `slot` is a tensor.
class SlotVisitor {
 public:
  virtual ~SlotVisitor() = default;
  virtual void enter(std::string_view name, std::string_view type) = 0;
  virtual void leave() = 0;
  virtual void slot(std::string_view name, Slot& slot) = 0;
};

template <typename T>
void visit_field(SlotVisitor& visitor, std::string_view name, T& field);

template <Module M>
void visit_module(SlotVisitor& visitor, std::string_view name, M& module) {
  visitor.enter(name, M::module_name());
  module.for_each_field([&](std::string_view field, auto& value) { visit_field(visitor, field, value); });
  visitor.leave();
}

template <typename T>
inline constexpr bool kIsSlot = false;
template <int D, Kind K>
inline constexpr bool kIsSlot<Param<D, K>> = true;
template <int D>
inline constexpr bool kIsSlot<RunningState<D>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <typename T, std::size_t N>
inline constexpr bool kIsList<std::array<T, N>> = true;

// Whether a field of this type can hold tensors; others are passed over.
template <typename T>
inline constexpr bool kIsVisited = kIsSlot<T> || Module<T>;
template <typename T>
inline constexpr bool kIsVisited<std::optional<T>> = kIsVisited<T>;
template <typename T>
inline constexpr bool kIsVisited<std::vector<T>> = kIsVisited<T>;
template <typename T, std::size_t N>
inline constexpr bool kIsVisited<std::array<T, N>> = kIsVisited<T>;

template <typename T>
void visit_field([[maybe_unused]] SlotVisitor& visitor, [[maybe_unused]] std::string_view name, [[maybe_unused]] T& field) {
  if constexpr (!kIsVisited<T>) {
    return;
  } else if constexpr (kIsSlot<T>) {
    visitor.slot(name, field.slot());
  } else if constexpr (Module<T>) {
    visit_module(visitor, name, field);
  } else if constexpr (kIsOptional<T>) {
    if (field) visit_field(visitor, name, *field);
  } else if constexpr (kIsList<T>) {
    visitor.enter(name, "list");
    for (std::size_t i = 0; i < field.size(); ++i) visit_field(visitor, std::to_string(i), field[i]);
    visitor.leave();
  }
}

// What the members below do, once for all modules. `walk` visits the module it belongs to.
using Walk = std::function<void(SlotVisitor&)>;
void for_each_slot(const Walk& walk, const std::function<void(const std::string& path, Slot&)>& body);
Record record_of(const Walk& walk);
void load_record(const Walk& walk, const Record& record, const char* module_name);
void move_to(const Walk& walk, const Device& device);
void set_tracking(const Walk& walk, bool autodiff, bool require_grad);
std::int64_t num_params(const Walk& walk);
void print(std::ostream& out, const Walk& walk);
void capture_slots(client::CaptureState& state, const Walk& walk);

}  // namespace nn::detail

// A module as an argument or result of a captured step (client/capture.h): its parameters and running statistics.
namespace client {
template <Module M>
void capture_fields(CaptureState& state, M& module) {
  nn::detail::capture_slots(state, module.walk());
}
}  // namespace client
}  // namespace burn

#define BURN_MODULE(Type, ...)                                                                                               \
  using BurnModule = Type;                                                                                                   \
  static constexpr const char* module_name() { return #Type; }                                                              \
  template <typename Fn>                                                                                                     \
  void for_each_field([[maybe_unused]] Fn&& fn) {                                                                            \
    BURN_FOR_EACH(BURN_NAME_AND_FIELD, __VA_ARGS__)                                                                                 \
  }                                                                                                                          \
  /* Calls body(path, slot) for every tensor: "conv1.weight". */                                                             \
  void for_each_slot(const std::function<void(const std::string&, ::burn::Slot&)>& body) {                                  \
    ::burn::nn::detail::for_each_slot(walk(), body);                                                                         \
  }                                                                                                                          \
  /* Every tensor by path, read from the device. */                                                                          \
  ::burn::Record into_record() const { return ::burn::nn::detail::record_of(const_cast<Type*>(this)->walk()); }       \
  /* The same module with the record's numbers. Errors: a tensor missing, left over, or of another shape, by name. */       \
  Type load_record(const ::burn::Record& record) const {                                                              \
    Type copy = *this;                                                                                                       \
    ::burn::nn::detail::load_record(copy.walk(), record, #Type);                                                             \
    return copy;                                                                                                             \
  }                                                                                                                          \
  Type to_device(const ::burn::Device& device) const {                                                                       \
    Type copy = *this;                                                                                                       \
    ::burn::nn::detail::move_to(copy.walk(), device);                                                                        \
    return copy;                                                                                                             \
  }                                                                                                                          \
  /* to_device with parameters that are new leaves of the tape. */                                                           \
  Type fork(const ::burn::Device& device) const { return to_device(device); }                                                \
  /* Off the autodiff device: no tape, and what is only for training (dropout) is off. */                                    \
  Type valid() const {                                                                                                       \
    Type copy = *this;                                                                                                       \
    ::burn::nn::detail::set_tracking(copy.walk(), false, false);                                                             \
    return copy;                                                                                                             \
  }                                                                                                                          \
  /* Parameters that gradients pass by: frozen. */                                                                           \
  Type no_grad() const {                                                                                                     \
    Type copy = *this;                                                                                                       \
    ::burn::nn::detail::set_tracking(copy.walk(), true, false);                                                              \
    return copy;                                                                                                             \
  }                                                                                                                          \
  std::int64_t num_params() const { return ::burn::nn::detail::num_params(const_cast<Type*>(this)->walk()); }                \
  friend std::ostream& operator<<(std::ostream& out, const Type& module) {                                                   \
    ::burn::nn::detail::print(out, const_cast<Type&>(module).walk());                                                        \
    return out;                                                                                                              \
  }                                                                                                                          \
  ::burn::nn::detail::Walk walk() {                                                                                          \
    return [this](::burn::nn::detail::SlotVisitor& visitor) { ::burn::nn::detail::visit_module(visitor, "", *this); };       \
  }
