// The visitor that all code about attributes is derived from, and checks that kAttrs lists every field. For the .cc
// files of ir/ and their tests.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "ir/enums.h"
#include "ir/op.h"

namespace burn::ir {

// Calls body(name, field) for every attribute, in the order of kAttrs.
template <typename Kind, typename Body>
constexpr void for_each_attr(Kind& kind, Body&& body) {
  std::apply([&](const auto&... attr) { (body(attr.name, kind.*attr.member), ...); },
             std::remove_const_t<Kind>::kAttrs);
}

// A value as it is printed: "true", "[2, 3]", "0.5", "sum".
template <typename Field>
std::string attr_text(const Field& field) {
  if constexpr (std::is_enum_v<Field>)
    return std::string{name(field)};
  else if constexpr (std::is_same_v<Field, bool>)
    return field ? "true" : "false";
  else if constexpr (std::is_same_v<Field, Dims>)
    return to_string(field);
  else
    return fmt::format("{}", field);
}

namespace detail {

// Converts to the type of any field.
template <typename Owner>
struct AnyField {
  template <typename T>
    requires(!std::is_same_v<T, Owner>)
  constexpr operator T() const;
};

template <typename Kind, std::size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { Kind{(static_cast<void>(I), AnyField<Kind>{})...}; };
}

// The number of fields of an aggregate: the length of the longest braced list that initialises it.
template <typename Kind, std::size_t N = 16>
constexpr std::size_t field_count() {
  if constexpr (N == 0 || takes_fields<Kind>(std::make_index_sequence<N>{}))
    return N;
  else
    return field_count<Kind, N - 1>();
}

}  // namespace detail

#define OP(type)                                                                          \
  static_assert(std::is_aggregate_v<type> && std::is_trivially_copyable_v<type>, #type);  \
  static_assert(detail::field_count<type>() == std::tuple_size_v<decltype(type::kAttrs)>, \
                #type "::kAttrs must name every field");
BURN_OPS(OP)
#undef OP

}  // namespace burn::ir
