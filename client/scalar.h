// A number as a user writes it: 2, 0.5f, true. It takes the dtype of the other operand, a tensor.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/types/dtype.h"

namespace burn {

template <typename T>
concept Arithmetic = std::is_arithmetic_v<T>;

class Scalar {
 public:
  __extension__ using Whole = __int128;  // holds all numbers of the integer dtypes, and their sums and differences

  template <Arithmetic T>
  Scalar(T value) {  // NOLINT: implicit on purpose
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::floating;
      bits_ = std::bit_cast<std::uint64_t>(static_cast<double>(value));
    } else {
      kind_ = std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer;
      bits_ = static_cast<std::uint64_t>(value);
    }
  }

  // The same number as an argument of a captured step (client/capture/capture.h), identified by `source`. 0: not an
  // argument.
  Scalar with_source(std::uint64_t source) const {
    Scalar argument = *this;
    argument.source_ = source;
    return argument;
  }
  std::uint64_t source() const { return source_; }

  bool is_float() const { return kind_ == Kind::floating; }
  double as_double() const {
    switch (kind_) {
      case Kind::floating:
        return std::bit_cast<double>(bits_);
      case Kind::signed_integer:
        return static_cast<double>(static_cast<std::int64_t>(bits_));
      case Kind::unsigned_integer:
        break;
    }
    return static_cast<double>(bits_);
  }
  // Rounded toward zero. NaN gives 0; numbers outside the range of every integer dtype give one that is also outside.
  Whole as_whole() const {
    constexpr Whole kBeyond = Whole{1} << 65;
    if (kind_ == Kind::signed_integer) return static_cast<std::int64_t>(bits_);
    if (kind_ == Kind::unsigned_integer) return bits_;
    const double value = as_double();
    if (value != value) return 0;
    if (value >= 0x1p65) return kBeyond;
    if (value <= -0x1p65) return -kBeyond;
    return static_cast<Whole>(value);
  }

  // The 64 bits that encode this number in a program or its bindings: those of a double for a floating dtype, else
  // those of an integer, the nearest one in the dtype's range.
  std::int64_t bits(ir::DType dtype) const;

 private:
  enum class Kind : std::uint8_t { floating, signed_integer, unsigned_integer };

  Kind kind_ = Kind::signed_integer;
  std::uint64_t bits_ = 0;
  std::uint64_t source_ = 0;
};

}  // namespace burn
