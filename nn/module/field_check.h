// Checks at compile time that a BURN_MODULE list names every field with tensors in it. Part of nn/module/module.h.
//
// C++20 cannot list the fields of an aggregate, but it can tell which initializers an aggregate accepts: an initializer
// that converts only to types with tensors in them is accepted exactly at the positions of such fields. Types that are
// not aggregates are not inspected.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nn/module/fields.h"

namespace burn::nn::detail {

// Clang warns of these conversions, which are never defined, where T is in an unnamed namespace.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

// Types used as initializers in requires-expressions only. They convert to anything; to types with tensors in them; to
// a base class of Owner; and to a base class of Owner with `Count` fields with tensors.
struct Anything {
  template <typename T>
  operator T() const;  // NOLINT: implicit on purpose, as the others are
};
struct WithTensors {
  WithTensors(const WithTensors&) = delete;  // not copyable, so that a std::any does not accept it as content
  template <typename T>
    requires kHoldsTensors<T>
  operator T() const;  // NOLINT
};
template <typename Owner>
struct Base {
  template <typename T>
    requires std::is_base_of_v<T, Owner>
  operator T() const;  // NOLINT
};
template <typename T>
consteval std::size_t fields_with_tensors();
template <typename Owner, std::size_t Count>
struct BaseWith {
  template <typename T>
    requires(std::is_base_of_v<T, Owner> && fields_with_tensors<T>() == Count)
  operator T() const;  // NOLINT
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <typename T>
T&& initializer();
template <std::size_t>
using AnythingAt = Anything;

template <typename T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires { T{initializer<AnythingAt<I>>()...}; };
}
template <typename T, typename At, std::size_t... Before, std::size_t... After>
consteval bool takes_between(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires { T{initializer<AnythingAt<Before>>()..., initializer<At>(), initializer<AnythingAt<After>>()...}; };
}

// How many initializers T accepts; arrays accept one for each element. 0 if the number cannot be determined.
template <typename T, std::size_t N = 0>
consteval std::size_t places() {
  constexpr std::size_t kMax = 512;
  constexpr bool is_enough = takes<T>(std::make_index_sequence<N>());
  if constexpr (is_enough && !takes<T>(std::make_index_sequence<N + 1>()))
    return N;
  else if constexpr (N == kMax || (!is_enough && N == 32))
    return 0;  // cannot be determined
  else
    return places<T, N + 1>();
}

// How many fields with tensors initializer `I` of `N` stands for: 0 or 1, or those of a base class.
template <typename T, std::size_t I, std::size_t N>
consteval std::size_t fields_at() {
  constexpr std::make_index_sequence<I> before;
  constexpr std::make_index_sequence<N - I - 1> after;
  if constexpr (!takes_between<T, WithTensors>(before, after)) {
    return 0;
  } else if constexpr (!takes_between<T, Base<T>>(before, after)) {
    return 1;
  } else {
    constexpr std::size_t kMax = 32;
    return [&]<std::size_t... Count>(std::index_sequence<Count...>) {
      return (std::size_t{0} + ... + (takes_between<T, BaseWith<T, Count>>(before, after) ? Count : 0));
    }(std::make_index_sequence<kMax + 1>());
  }
}

template <typename T>
consteval std::size_t fields_with_tensors() {
  if constexpr (!std::is_aggregate_v<T>) {
    return 0;
  } else {
    constexpr std::size_t n = places<T>();
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (std::size_t{0} + ... + fields_at<T, I, n>());
    }(std::make_index_sequence<n>());
  }
}

template <typename T>
consteval bool is_aggregate_with_tensors() {
  return fields_with_tensors<T>() > 0;
}

// The field's name in an entry of a list, which may be BURN_SKIP(field).
consteval std::string_view name_in(std::string_view entry) {
  const auto open = entry.rfind('(');
  if (open != std::string_view::npos) entry = entry.substr(open + 1, entry.find(')') - open - 1);
  return entry;
}
// `listed` ends with a null pointer.
consteval bool is_listed_once(const char* const* listed, std::string_view entry) {
  int count = 0;
  for (; *listed != nullptr; ++listed) count += name_in(*listed) == name_in(entry) ? 1 : 0;
  return count == 1;
}

// How many initializers with tensors of an aggregate a listed field accounts for.
template <typename T>
inline constexpr std::size_t kPlacesOf = kHoldsTensors<T> ? 1 : 0;
template <typename T, std::size_t N>
inline constexpr std::size_t kPlacesOf<T[N]> = N * kPlacesOf<T>;
template <typename T>
inline constexpr std::size_t kPlacesOf<Skipped<T>> = kIsConstant<T> ? 0 : 1;

}  // namespace burn::nn::detail
