// A number as a user writes it: 2, 0.5f, true. It takes the dtype of the tensor it meets.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ir/dtype.h"

namespace burn {

template <typename T>
concept Arithmetic = std::is_arithmetic_v<T>;

class Scalar {
 public:
  template <Arithmetic T>
  Scalar(T value) {  // NOLINT: implicit on purpose
    if constexpr (std::is_floating_point_v<T>) {
      is_float_ = true;
      float_ = static_cast<double>(value);
    } else {
      integer_ = static_cast<std::int64_t>(value);
    }
  }

  // The same number as an argument of a captured step (client/capture.h): `source` names which one. 0: a plain number.
  Scalar with_source(std::uint64_t source) const {
    Scalar argument = *this;
    argument.source_ = source;
    return argument;
  }
  std::uint64_t source() const { return source_; }

  bool is_float() const { return is_float_; }
  double as_double() const { return is_float_ ? float_ : static_cast<double>(integer_); }
  std::int64_t as_integer() const { return is_float_ ? saturate(float_) : integer_; }

  // The 64 bits that stand for this number in a program or its bindings: a double's for a floating dtype, an int64's otherwise.
  std::int64_t bits(ir::DType dtype) const {
    if (ir::is_floating(dtype)) return std::bit_cast<std::int64_t>(as_double());
    if (ir::is_bool(dtype)) return as_double() != 0 ? 1 : 0;
    return as_integer();
  }

 private:
  static std::int64_t saturate(double value) {
    if (!(value == value)) return 0;
    if (value >= 9223372036854775807.0) return INT64_MAX;
    if (value <= -9223372036854775808.0) return INT64_MIN;
    return static_cast<std::int64_t>(value);
  }

  bool is_float_ = false;
  double float_ = 0;
  std::int64_t integer_ = 0;
  std::uint64_t source_ = 0;
};

}  // namespace burn
