// Tensors of the reference: every element in the widest type of its class, so that nothing is lost between ops.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "ir/types/shape.h"

namespace burn::reference {

struct Tensor {
  ir::TensorType type;
  // Row-major; the bits of a double for floats, of an int64 or uint64 for the rest, as in ir::Constant.
  std::vector<std::uint64_t> bits;

  Tensor() = default;
  explicit Tensor(const ir::TensorType& type) : type(type), bits(static_cast<std::size_t>(type.num_elements())) {}

  std::size_t size() const { return bits.size(); }

  // T: double, std::int64_t, std::uint64_t or bool, the type that visit_kind() passes for the dtype.
  template <typename T>
  T get(std::size_t i) const {
    if constexpr (std::is_same_v<T, bool>)
      return bits[i] != 0;
    else
      return std::bit_cast<T>(bits[i]);
  }
  // Rounds, or wraps, to the dtype.
  template <typename T>
  void set(std::size_t i, T value) {
    if constexpr (std::is_same_v<T, bool>)
      bits[i] = value;
    else
      set_bits(i, std::bit_cast<std::uint64_t>(value));
  }
  void set_bits(std::size_t i, std::uint64_t value);
};

// The elements in their own dtype, and back.
std::vector<std::byte> to_bytes(const Tensor& x);
Tensor from_bytes(const ir::TensorType& type, std::span<const std::byte> bytes);

// Calls body.operator()<T>() with the type that holds the dtype's elements.
template <typename Body>
decltype(auto) visit_kind(ir::DType dtype, Body&& body) {
  switch (ir::dtype_class(dtype)) {
    case ir::DTypeClass::floating:
      return body.template operator()<double>();
    case ir::DTypeClass::signed_integer:
      return body.template operator()<std::int64_t>();
    case ir::DTypeClass::unsigned_integer:
      return body.template operator()<std::uint64_t>();
    case ir::DTypeClass::boolean:
      return body.template operator()<bool>();
  }
  __builtin_unreachable();
}

template <typename T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

// The max and min of reductions, scans and scatters: NaN if either operand is NaN.
template <typename T>
T larger(T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
  return a < b ? b : a;
}
template <typename T>
T smaller(T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
  return b < a ? b : a;
}

// Calls body(index) for every index of a shape, in row-major order.
template <typename Body>
void for_each_index(const ir::Shape& shape, const Body& body) {
  if (ir::num_elements(shape) == 0) return;
  ir::Dims index = ir::Dims::filled(shape.rank(), 0);
  while (true) {
    body(index);
    int i = shape.rank() - 1;
    for (; i >= 0 && ++index[i] == shape[i]; --i) index[i] = 0;
    if (i < 0) return;
  }
}

// The position of an index in row-major order.
std::size_t position(const ir::Shape& shape, const ir::Dims& index);

}  // namespace burn::reference
