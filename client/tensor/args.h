// Argument types of tensor functions: sizes, ranges, the device and dtype of new tensors.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/error.h"
#include "client/device.h"
#include "client/ops/ops.h"
#include "client/where.h"

namespace burn {

// Exactly D numbers: {2, 3} converts to Dims<2>; another count does not compile.
template <int D>
class Dims {
 public:
  template <std::convertible_to<std::int64_t>... Ts>
    requires(sizeof...(Ts) == D)
  Dims(Ts... sizes) : dims_{static_cast<std::int64_t>(sizes)...} {}                                // NOLINT: implicit
  Dims(const std::array<std::int64_t, D>& sizes) : dims_(std::span<const std::int64_t>{sizes}) {}  // NOLINT: implicit
  operator const ir::Dims&() const { return dims_; }                                               // NOLINT: implicit

 private:
  ir::Dims dims_;
};

using client::Range;

// s(): everything; s(a, b): a..b; s(a, b, step). Negative numbers count from the end; see Range.
inline Range s() { return {}; }
inline Range s(std::int64_t start, std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1) {
  return {start, end, step};
}

// The device and dtype of a new tensor: a Device or its URL, or {device, DType::f16}.
struct TensorOptions {
  TensorOptions(const Device& on, std::optional<ir::DType> as = std::nullopt)
      : device(on), dtype(as) {}                          // NOLINT: implicit
  TensorOptions(const char* url) : device(url) {}         // NOLINT: implicit
  TensorOptions(const std::string& url) : device(url) {}  // NOLINT: implicit
  Device device;
  std::optional<ir::DType> dtype;

  client::Place place() const { return {device.state(), device.is_autodiff()}; }
};

// The distribution that random numbers are drawn from.
struct Distribution {
  enum class Type { uniform, normal, bernoulli } type = Type::uniform;
  // uniform: in [a, b), integers: each whole number in it; normal: mean a, standard deviation b, integers: rounded to
  // the nearest; bernoulli: 1 with probability a.
  Scalar a = 0, b = 1;

  static Distribution uniform(Scalar low, Scalar high) { return {Type::uniform, low, high}; }
  static Distribution normal(double mean, double deviation) { return {Type::normal, mean, deviation}; }
  static Distribution bernoulli(double probability) { return {Type::bernoulli, probability, 0}; }
};

namespace detail {

// {{1, 2}, {3, 4}}: D nested lists of T.
template <int D, typename T>
struct NestedList {
  using type = std::initializer_list<typename NestedList<D - 1, T>::type>;
};
template <typename T>
struct NestedList<0, T> {
  using type = T;
};
template <int D>
struct NestedList<D, void> {  // no list
  struct type;
};
template <>
struct NestedList<0, void> {
  struct type;
};

template <int D, typename T>
void flatten_list(const typename NestedList<D, T>::type& list, int depth, ir::Dims& shape, std::vector<T>& out,
                  const char* what, const Loc& where) {
  const auto size = static_cast<std::int64_t>(list.size());
  if (shape.rank() == depth) shape.push_back(size);
  if (shape[depth] != size) {
    throw Error(StatusCode::invalid_argument, std::string{what} + ": lists of different lengths, " +
                                                  std::to_string(shape[depth]) + " and " + std::to_string(size) +
                                                  ", at dim " + std::to_string(depth) + " (at " +
                                                  ir::to_string(at(where)) + ")");
  }
  for (const auto& item : list) {
    if constexpr (D == 1)
      out.push_back(item);
    else
      flatten_list<D - 1, T>(item, depth + 1, shape, out, what, where);
  }
}

}  // namespace detail
}  // namespace burn
