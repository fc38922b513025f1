// The kinds of fields that a module can have, and how each is visited. Part of nn/module/module.h.
//
// Visited: Param, RunningState, nn::Training, Tensor, modules; and std::optional, vector, array, pair, tuple, variant,
// map (with strings or whole numbers as keys) and C arrays of those. Ignored: numbers, enums, strings, functions,
// configurations, aggregates of those and templates over them (std::vector<int>). Listing any other type is a
// compile-time error.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "nn/module/visit.h"

namespace burn {

// A struct with its own BURN_MODULE; a base class's BURN_MODULE does not count, as it lacks the derived class's fields.
template <typename T>
concept Module = requires { requires std::same_as<typename T::BurnModule, std::remove_const_t<T>>; };

namespace nn::detail {

// A field in a BURN_MODULE list that is not visited: BURN_SKIP(field).
template <typename T>
struct Skipped {};
template <typename T>
Skipped<T> skip(const T&) {
  return {};
}

// --- which types have tensors in them --------------------------------------------------------------------------------

template <typename T>
consteval bool is_aggregate_with_tensors();  // nn/module/field_check.h

template <typename T>
concept Complete = requires { sizeof(T); };

template <typename T>
inline constexpr bool kIsModuleOrHoldsTensors = [] {
  if constexpr (Module<T>)
    return true;
  else if constexpr (std::is_class_v<T> && Complete<T>)
    return is_aggregate_with_tensors<T>();
  else
    return false;
}();

template <typename T>
inline constexpr bool kHoldsTensors = kIsModuleOrHoldsTensors<T>;
template <int D, Kind K>
inline constexpr bool kHoldsTensors<Param<D, K>> = true;
template <int D>
inline constexpr bool kHoldsTensors<RunningState<D>> = true;
template <int D, Kind K>
inline constexpr bool kHoldsTensors<Tensor<D, K>> = true;
template <>
inline constexpr bool kHoldsTensors<Training> = true;
template <typename T>
inline constexpr bool kHoldsTensors<const T> = kHoldsTensors<T>;
template <typename T>
inline constexpr bool kHoldsTensors<Skipped<T>> = false;
template <typename T, std::size_t N>
inline constexpr bool kHoldsTensors<T[N]> = kHoldsTensors<T>;
template <typename T, std::size_t N>
inline constexpr bool kHoldsTensors<std::array<T, N>> = kHoldsTensors<T>;
// Any template over types, including containers that cannot be visited, and deprecated ones such as the base classes of
// std::less.
// NOLINTBEGIN(misc-redundant-expression, clang-diagnostic-deprecated-declarations): a fold is no repeated operand
template <template <typename...> typename Template, typename... Ts>
inline constexpr bool kHoldsTensors<Template<Ts...>> =
    (kHoldsTensors<Ts> || ...) || kIsModuleOrHoldsTensors<Template<Ts...>>;
// NOLINTEND(misc-redundant-expression, clang-diagnostic-deprecated-declarations)

// --- which types may be listed ---------------------------------------------------------------------------------------

// Types that are ignored: known to have no tensors in them.
template <typename T>
inline constexpr bool kIsConstant = [] {
  if constexpr (std::is_pointer_v<T>)
    return !kHoldsTensors<std::remove_pointer_t<T>>;
  else if constexpr (!std::is_class_v<T> && !std::is_union_v<T>)
    return !std::is_reference_v<T>;
  else
    return (std::is_empty_v<T> || std::is_aggregate_v<T> || requires { typename T::BurnConfig; }) && !kHoldsTensors<T>;
}();
template <>
inline constexpr bool kIsConstant<std::string> = true;
template <>
inline constexpr bool kIsConstant<Device> = true;
template <typename T>
inline constexpr bool kIsConstant<const T> = kIsConstant<T>;
template <typename T, std::size_t N>
inline constexpr bool kIsConstant<T[N]> = kIsConstant<T>;
template <typename T, std::size_t N>
inline constexpr bool kIsConstant<std::array<T, N>> = kIsConstant<T>;
template <template <typename...> typename Template, typename... Ts>
inline constexpr bool kIsConstant<Template<Ts...>> = (kIsConstant<Ts> && ...) && !kHoldsTensors<Template<Ts...>>;

template <typename K>
concept MapKey = std::same_as<K, std::string> || std::integral<K>;

// Types that a BURN_MODULE list accepts.
template <typename T>
inline constexpr bool kIsField = Module<T> || kIsConstant<T>;
template <int D, Kind K>
inline constexpr bool kIsField<Param<D, K>> = true;
template <int D>
inline constexpr bool kIsField<RunningState<D>> = true;
template <int D, Kind K>
inline constexpr bool kIsField<Tensor<D, K>> = true;
template <>
inline constexpr bool kIsField<Training> = true;
template <typename T>
inline constexpr bool kIsField<Skipped<T>> = true;
template <typename T>
inline constexpr bool kIsField<std::optional<T>> = kIsField<T>;
template <typename T>
inline constexpr bool kIsField<std::vector<T>> = kIsField<T>;
template <typename T, std::size_t N>
inline constexpr bool kIsField<std::array<T, N>> = kIsField<T>;
template <typename T, std::size_t N>
inline constexpr bool kIsField<T[N]> = kIsField<T>;
template <typename A, typename B>
inline constexpr bool kIsField<std::pair<A, B>> = kIsField<A> && kIsField<B>;
// NOLINTBEGIN(misc-redundant-expression): a fold is no repeated operand
template <typename... Ts>
inline constexpr bool kIsField<std::tuple<Ts...>> = (kIsField<Ts> && ...);
template <typename... Ts>
inline constexpr bool kIsField<std::variant<Ts...>> = (kIsField<Ts> && ...);
// NOLINTEND(misc-redundant-expression)
template <typename K, typename T, typename Less>
inline constexpr bool kIsField<std::map<K, T, Less>> = MapKey<K> && kIsField<T>;

// --- the walk --------------------------------------------------------------------------------------------------------

template <typename T>
void visit_field(ModuleVisitor& visitor, std::string_view name, T& field);

template <Module M>
void visit_module(ModuleVisitor& visitor, std::string_view name, M& module) {
  visitor.enter(name, M::module_name());
  module.for_each_field([&](std::string_view field, auto&& value) { visit_field(visitor, field, value); });
  visitor.leave();
}

template <int D, Kind K>
void visit_kind(ModuleVisitor& visitor, std::string_view name, Param<D, K>& field) {
  visitor.param(name, field);
}
template <int D>
void visit_kind(ModuleVisitor& visitor, std::string_view name, RunningState<D>& field) {
  visitor.slot(name, field.slot());
}
template <int D, Kind K>
void visit_kind(ModuleVisitor& visitor, std::string_view, Tensor<D, K>& field) {
  visitor.tensor(field.mutable_value());
}
inline void visit_kind(ModuleVisitor& visitor, std::string_view, Training& field) { visitor.training(field); }
template <Module M>
void visit_kind(ModuleVisitor& visitor, std::string_view name, M& field) {
  visit_module(visitor, name, field);
}
template <typename T>
void visit_kind(ModuleVisitor& visitor, std::string_view name, std::optional<T>& field) {
  if (field) visit_field(visitor, name, *field);
}
template <typename... Ts>
void visit_kind(ModuleVisitor& visitor, std::string_view name,
                std::variant<Ts...>& field) {  // visits the alternative that it holds
  if (field.valueless_by_exception()) return;
  visitor.enter(name, "variant");
  std::visit([&](auto& held) { visit_field(visitor, std::to_string(field.index()), held); }, field);
  visitor.leave();
}
template <typename... Ts>
void visit_each(ModuleVisitor& visitor, std::string_view name, Ts&... fields) {
  visitor.enter(name, "tuple");
  std::size_t i = 0;
  (visit_field(visitor, std::to_string(i++), fields), ...);
  visitor.leave();
}
template <typename... Ts>
void visit_kind(ModuleVisitor& visitor, std::string_view name, std::tuple<Ts...>& field) {
  std::apply([&](auto&... each) { visit_each(visitor, name, each...); }, field);
}
template <typename A, typename B>
void visit_kind(ModuleVisitor& visitor, std::string_view name, std::pair<A, B>& field) {
  visit_each(visitor, name, field.first, field.second);
}
template <typename K, typename T, typename Less>
void visit_kind(ModuleVisitor& visitor, std::string_view name, std::map<K, T, Less>& field) {
  visitor.enter(name, "map");
  for (auto& [key, value] : field) {
    if constexpr (std::integral<K>)
      visit_field(visitor, std::to_string(key), value);
    else
      visit_field(visitor, key, value);
  }
  visitor.leave();
}
template <typename List>
void visit_list(ModuleVisitor& visitor, std::string_view name, List& list) {
  visitor.enter(name, "list");
  std::size_t i = 0;
  for (auto& item : list) visit_field(visitor, std::to_string(i++), item);
  visitor.leave();
}
template <typename T>
void visit_kind(ModuleVisitor& visitor, std::string_view name, std::vector<T>& field) {
  visit_list(visitor, name, field);
}
template <typename T, std::size_t N>
void visit_kind(ModuleVisitor& visitor, std::string_view name, std::array<T, N>& field) {
  visit_list(visitor, name, field);
}
template <typename T, std::size_t N>
void visit_kind(ModuleVisitor& visitor, std::string_view name, T (&field)[N]) {
  visit_list(visitor, name, field);
}

template <typename T>
void visit_field(ModuleVisitor& visitor, std::string_view name, T& field) {
  if constexpr (kHoldsTensors<T> && kIsField<T>)
    visit_kind(visitor, name, field);  // other types: BURN_MODULE reports the error
}

}  // namespace nn::detail
}  // namespace burn
