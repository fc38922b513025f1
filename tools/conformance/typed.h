// Converts an untyped value to a Tensor<D, K> of its rank and kind, so that ops are called as users call them.
//
//   BURN_CALL("roll_dim", x.roll_dim(c.integer("shift"), c.dim("dim")))
//
// defines the entry of that name: `x` is the first input, `c` the call. If the API has no such method for the kind and
// rank of `x`, the case fails.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/tensor/functions.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {

inline constexpr int kMaxCallRank = 6;  // for inputs, and for results whose rank the user specifies

// --- results as a list of values -------------------------------------------------------------------------------------
template <int D, Kind K>
void put(std::vector<Value>& list, const Tensor<D, K>& x) {
  list.push_back(x.value());
}
template <typename A, typename B>
void put(std::vector<Value>& list, const std::pair<A, B>& both) {
  put(list, both.first), put(list, both.second);
}
template <typename T>
void put(std::vector<Value>& list, const std::vector<T>& tensors) {
  for (const auto& x : tensors) put(list, x);
}
template <typename T, std::size_t N>
void put(std::vector<Value>& list, const std::array<T, N>& tensors) {
  for (const auto& x : tensors) put(list, x);
}
template <typename T>
std::vector<Value> values(const T& result) {
  std::vector<Value> list;
  put(list, result);
  return list;
}

[[noreturn]] inline void refuse(const std::string& what) {
  throw Error(StatusCode::unimplemented, "the API has no such method for " + what);
}

// --- calls -----------------------------------------------------------------------------------------------------------
// Calls f.operator()<E>() with E = rank.
template <typename F>
std::vector<Value> ranked(std::int64_t rank, F&& f) {
  std::vector<Value> result;
  const bool found = [&]<int... I>(std::integer_sequence<int, I...>) {
    return ((rank == I + 1 && (result = f.template operator()<I + 1>(), true)) || ...);
  }(std::make_integer_sequence<int, kMaxCallRank>{});
  if (!found) refuse("rank " + std::to_string(rank));
  return result;
}

// Calls f(x) with the value as a tensor of its rank and kind.
template <typename F>
std::vector<Value> typed(const Value& x, F&& f) {
  return ranked(x.rank(), [&]<int D>() -> std::vector<Value> {
    if (Float::holds(x.dtype())) return f(Tensor<D, Float>{x});
    if (Int::holds(x.dtype())) return f(Tensor<D, Int>{x});
    return f(Tensor<D, Bool>{x});
  });
}

// Converts another input to the same tensor type, or to indices or a mask of the same rank.
template <int D, Kind K>
Tensor<D, K> like(const Tensor<D, K>&, const Value& other) {
  return Tensor<D, K>{other};
}
template <int D, Kind K>
Tensor<D, Int> indices_like(const Tensor<D, K>&, const Value& other) {
  return Tensor<D, Int>{other};
}
template <int D, Kind K>
Tensor<D, Bool> mask_like(const Tensor<D, K>&, const Value& other) {
  return Tensor<D, Bool>{other};
}
template <typename T>
std::vector<T> all_like(const T&, const std::vector<Value>& all) {
  return {all.begin(), all.end()};
}

// Converts the numbers to the array of D that a Dims<D> takes. Errors (thrown): INVALID_ARGUMENT for another count.
template <int D>
std::array<std::int64_t, D> array_of(const std::vector<std::int64_t>& numbers) {
  if (numbers.size() != D) throw Error(StatusCode::invalid_argument, "a list of " + std::to_string(numbers.size()));
  std::array<std::int64_t, D> array{};
  std::copy(numbers.begin(), numbers.end(), array.begin());
  return array;
}

#define BURN_CALL_BODY(...)                  \
  if constexpr (requires { __VA_ARGS__; }) { \
    return values(__VA_ARGS__);              \
  } else {                                   \
    refuse(ir::to_string(x.value().type())); \
  }
#define BURN_CALL(name, ...)                                        \
  t[name] = [](const Call& c) {                                     \
    return typed(c.x(), [&c](const auto& x) -> std::vector<Value> { \
      (void)c; /* many calls use only x */                          \
      BURN_CALL_BODY(__VA_ARGS__)                                   \
    });                                                             \
  };
// The same for calls in which the user specifies the result's rank, `E`.
#define BURN_CALL_RANKED(name, rank, ...)                                                      \
  t[name] = [](const Call& c) {                                                                \
    return typed(c.x(), [&c](const auto& x) {                                                  \
      return ranked(rank, [&]<int E>() -> std::vector<Value> { BURN_CALL_BODY(__VA_ARGS__) }); \
    });                                                                                        \
  };

}  // namespace burn::conformance
