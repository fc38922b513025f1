// Modules are plain structs; BURN_MODULE names their fields once, and visiting, records, printing and device moves
// follow.
//
//   struct Net {
//     nn::Conv2d conv1;
//     nn::Linear linear;
//     BURN_MODULE(Net, conv1, linear)
//     Tensor<2> forward(const Tensor<4>& x) const { ... }
//   };
//
// A field is a Param, a RunningState, an nn::Training, a Tensor (which is only moved between devices), another module,
// or one of those in a std::optional, vector, array, pair, tuple, variant or map. Numbers, flags, strings and
// configurations may be listed or left out: they are ignored. A field with tensors in it that is not listed, or whose
// type cannot be visited, does not compile; neither does a field that is listed twice. BURN_SKIP(field) in the list
// excludes a field from visits. The struct stays an aggregate: designated initializers work. Modules are values.
//
// Copies within one module are tied: a layer pushed back twice, or `net.head.weight = net.embedding.weight`, is one
// parameter at two places: it has one gradient, is updated once and counted once. nn::fresh(layer) (nn/module/fresh.h)
// is a copy with its own parameters. Running statistics and plain tensors are not tied: each place has its own.
//
// Training state belongs to the module: valid() turns off what is only for training (dropout, batch statistics),
// independently of the input's device, and train() turns it on again. Until one of them is called, a layer trains while
// it is on an autodiff device.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/status.h"
#include "client/capture/state.h"
#include "client/device.h"
#include "nn/module/field_check.h"
#include "nn/module/fields.h"
#include "nn/module/for_each.h"
#include "nn/module/param.h"
#include "store/record.h"

namespace burn {

namespace nn {

// How a module is written as text.
struct DisplaySettings {
  int indentation = 2;                 // spaces for each level
  bool num_parameters = true;          // after each module
  bool tensors = true;                 // a line for each, with its type
  bool param_ids = false;              // in the lines of parameters
  std::optional<std::size_t> depth{};  // levels of modules; none: all
};

}  // namespace nn

namespace nn::detail {

// Untemplated implementations of the members below. `walk` visits the module that it belongs to.
// Calls body for each pair of tensors of two modules of the same structure.
void for_each_pair(const ModuleWalk& a, const ModuleWalk& b,
                   const std::function<void(const std::string& path, Slot& of_a, Slot& of_b)>& body);
// record_of(), but waits until all numbers are read. Errors: those of the first tensor that cannot be read, with its
// path.
Record read_record_of(const ModuleWalk& walk);
void collect_devices(const ModuleWalk& walk, std::vector<Device>& devices);
void move_to(const ModuleWalk& walk, const Device& device);
void cast_to(const ModuleWalk& walk, ir::DType dtype);
void set_training(const ModuleWalk& walk, bool is_training);
void set_require_grad(const ModuleWalk& walk, bool wanted);
std::int64_t num_params(const ModuleWalk& walk);
void print(std::ostream& out, const ModuleWalk& walk, const DisplaySettings& settings = {});
void capture_slots(client::CaptureState& state, const ModuleWalk& walk);

// The result of `call`, or the status of the burn::Error that it throws.
template <typename Call>
auto catch_error(Call&& call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (const Error& error) {
    return error.status();
  }
}

}  // namespace nn::detail

namespace nn {

// A module as text, as `out << module` writes it.
template <Module M>
std::string to_text(const M& module, const DisplaySettings& settings = {}) {
  std::ostringstream text;
  detail::print(text, const_cast<M&>(module).walk(), settings);
  return text.str();
}

}  // namespace nn

// A module as an argument or result of a captured step (client/capture/capture.h): its parameters and running
// statistics.
namespace client {
template <Module M>
void capture_fields(CaptureState& state, M& module) {
  nn::detail::capture_slots(state, module.walk());
}
}  // namespace client
}  // namespace burn

// Marks a field in a BURN_MODULE list that is not visited.
#define BURN_SKIP(field) ::burn::nn::detail::skip(field)

#define BURN_CHECK_FIELD(f)                                                                                   \
  static_assert(::burn::nn::detail::is_listed_once(listed, #f),                                               \
                "BURN_MODULE: the list names the field '" #f "' twice");                                      \
  static_assert(                                                                                              \
      ::burn::nn::detail::kIsField<decltype(f)>,                                                              \
      "BURN_MODULE: the field '" #f                                                                           \
      "' is of a type that cannot be visited. Give a struct with layers a BURN_MODULE "                       \
      "of its own, hold layers by value (std::optional, vector, array, pair, tuple, variant, map), or write " \
      "BURN_SKIP(" #f ") for what is no parameter");
#define BURN_VISIT_FIELD(f) fn(#f, f);
#define BURN_NAME_OF_FIELD(f) #f,
#define BURN_PLACES_OF_FIELD(f) +::burn::nn::detail::kPlacesOf<decltype(f)>

#define BURN_MODULE(Type, ...)                                                                                         \
  using BurnModule = Type;                                                                                             \
  static constexpr const char* module_name() { return #Type; }                                                         \
  /* No template: looked at where the struct is defined. What follows costs nothing until it is called. */             \
  void check_fields() const {                                                                                          \
    [[maybe_unused]] constexpr const char* listed[] = {BURN_FOR_EACH(BURN_NAME_OF_FIELD, __VA_ARGS__) nullptr};        \
    static_assert(                                                                                                     \
        ::burn::nn::detail::fields_with_tensors<Type>() <= 0 BURN_FOR_EACH(BURN_PLACES_OF_FIELD, __VA_ARGS__),         \
        "BURN_MODULE(" #Type                                                                                           \
        "): the list leaves out a field with tensors in it, which would never be trained, "                            \
        "moved or saved. Name every Param, RunningState, nn::Training and layer, or write BURN_SKIP(field)");          \
    BURN_FOR_EACH(BURN_CHECK_FIELD, __VA_ARGS__)                                                                       \
  }                                                                                                                    \
  template <typename Fn>                                                                                               \
  void for_each_field([[maybe_unused]] Fn&& fn) {                                                                      \
    check_fields(); /* of a class template they are made here */                                                       \
    BURN_FOR_EACH(BURN_VISIT_FIELD, __VA_ARGS__)                                                                       \
  }                                                                                                                    \
  /* Calls body(path, slot) for every tensor: "conv1.weight". A parameter at several places is met once, by its */     \
  /* first path; what body makes of it is at all of them afterwards. */                                                \
  template <int = 0>                                                                                                   \
  void for_each_slot(const std::function<void(const std::string&, ::burn::Slot&)>& body) {                             \
    ::burn::nn::for_each_slot(walk(), body);                                                                           \
  }                                                                                                                    \
  /* Every tensor by path, read from the device; a parameter at several places by the first one. */                    \
  template <int = 0>                                                                                                   \
  ::burn::Record into_record() const {                                                                                 \
    return ::burn::nn::detail::read_record_of(const_cast<Type*>(this)->walk());                                        \
  }                                                                                                                    \
  /* The same module with the record's numbers. Another precision is rounded to that of the field. A parameter at */   \
  /* several places is found by any of their paths. Errors: a tensor missing, left over, of another shape or kind */   \
  /* (float, whole, bool), by name; other numbers by one path of a parameter than by another. */                       \
  template <int = 0>                                                                                                   \
  Type load_record(const ::burn::Record& record) const {                                                               \
    Type copy = *this;                                                                                                 \
    ::burn::nn::load_record(copy.walk(), record, #Type);                                                               \
    return copy;                                                                                                       \
  }                                                                                                                    \
  /* The same, or what is wrong with the record. */                                                                    \
  template <int = 0>                                                                                                   \
  ::burn::Result<Type> try_load_record(const ::burn::Record& record) const {                                           \
    return ::burn::nn::detail::catch_error([&] { return load_record(record); });                                       \
  }                                                                                                                    \
  /* into_record() and load_record() with a file (Record::save, Record::load). */                                      \
  template <int = 0>                                                                                                   \
  void save_file(const std::filesystem::path& path) const {                                                            \
    into_record().save(path);                                                                                          \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  Type load_file(const std::filesystem::path& path) const {                                                            \
    return load_record(::burn::Record::load(path));                                                                    \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  ::burn::Result<Type> try_load_file(const std::filesystem::path& path) const {                                        \
    return ::burn::nn::detail::catch_error([&] { return load_file(path); });                                           \
  }                                                                                                                    \
  /* The devices that its tensors are on, each once, in their order; with a tape where one of its tensors is on it. */ \
  template <int = 0>                                                                                                   \
  std::vector<::burn::Device> devices() const {                                                                        \
    return collect_devices({});                                                                                        \
  }                                                                                                                    \
  /* `known`, and those of the module that are not among them. */                                                      \
  template <int = 0>                                                                                                   \
  std::vector<::burn::Device> collect_devices(std::vector<::burn::Device> known) const {                               \
    ::burn::nn::detail::collect_devices(const_cast<Type*>(this)->walk(), known);                                       \
    return known;                                                                                                      \
  }                                                                                                                    \
  /* On another device. What is frozen stays frozen, training what trains. */                                          \
  template <int = 0>                                                                                                   \
  Type to_device(const ::burn::Device& device) const {                                                                 \
    Type copy = *this;                                                                                                 \
    ::burn::nn::detail::move_to(copy.walk(), device);                                                                  \
    return copy;                                                                                                       \
  }                                                                                                                    \
  /* With floats of another dtype: parameters, running statistics and plain tensors; whole numbers and bools stay. */  \
  /* Parameters keep their ids and stay frozen or trainable, as new leaves. Errors: a dtype that is no float. */       \
  template <int = 0>                                                                                                   \
  Type to_dtype(::burn::DType dtype) const {                                                                           \
    Type copy = *this;                                                                                                 \
    ::burn::nn::detail::cast_to(copy.walk(), dtype);                                                                   \
    return copy;                                                                                                       \
  }                                                                                                                    \
  /* to_device with parameters that are new leaves of the tape. */                                                     \
  template <int = 0>                                                                                                   \
  Type fork(const ::burn::Device& device) const {                                                                      \
    return to_device(device);                                                                                          \
  }                                                                                                                    \
  /* Off the autodiff device: no tape, and what is only for training (dropout) is off, whatever the input. */          \
  template <int = 0>                                                                                                   \
  Type valid() const {                                                                                                 \
    Type copy = *this;                                                                                                 \
    ::burn::nn::detail::set_training(copy.walk(), false);                                                              \
    return copy;                                                                                                       \
  }                                                                                                                    \
  /* valid() undone: on the autodiff device, what is only for training on. What was frozen still is. */                \
  template <int = 0>                                                                                                   \
  Type train() const {                                                                                                 \
    Type copy = *this;                                                                                                 \
    ::burn::nn::detail::set_training(copy.walk(), true);                                                               \
    return copy;                                                                                                       \
  }                                                                                                                    \
  /* Parameters that gradients pass by: frozen, also on other devices. */                                              \
  template <int = 0>                                                                                                   \
  Type no_grad() const {                                                                                               \
    Type copy = *this;                                                                                                 \
    ::burn::nn::detail::set_require_grad(copy.walk(), false);                                                          \
    return copy;                                                                                                       \
  }                                                                                                                    \
  /* no_grad() undone. */                                                                                              \
  template <int = 0>                                                                                                   \
  Type require_grad() const {                                                                                          \
    Type copy = *this;                                                                                                 \
    ::burn::nn::detail::set_require_grad(copy.walk(), true);                                                           \
    return copy;                                                                                                       \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  std::int64_t num_params() const {                                                                                    \
    return ::burn::nn::detail::num_params(const_cast<Type*>(this)->walk());                                            \
  }                                                                                                                    \
  template <std::same_as<Type> T>                                                                                      \
  friend std::ostream& operator<<(std::ostream& out, const T& module) {                                                \
    ::burn::nn::detail::print(out, const_cast<T&>(module).walk());                                                     \
    return out;                                                                                                        \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  ::burn::nn::ModuleWalk walk() {                                                                                      \
    return [this](::burn::nn::ModuleVisitor& visitor) { ::burn::nn::detail::visit_module(visitor, "", *this); };       \
  }
