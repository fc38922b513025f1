// Element-wise ops, and ops without operands that generate elements. Their shape rules are in the .cc file.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"
#include "ir/ops/pointwise.h"

namespace burn::ir {

// uniform: in [0, 1); normal: mean 0, standard deviation 1; bits: all 2^64 numbers.
enum class RandomFn : std::uint8_t { uniform, normal, bits };

// A constant of the program: `real` for floats, `number` for other dtypes (u64: the int64 with the same bits). The
// unused field is 0.
struct Constant {
  DType dtype = DType::f32;
  std::int64_t number = 0;
  double real = 0;
  static constexpr std::string_view kName = "constant";
  static constexpr std::string_view kSignature = "-> []";
  static constexpr auto kAttrs =
      std::tuple{Attr{"dtype", &Constant::dtype}, Attr{"number", &Constant::number}, Attr{"real", &Constant::real}};

  // From the 64 bits that represent a scalar of any dtype on the wire: a double's for floats, otherwise an int64's.
  static Constant of_bits(DType dtype, std::int64_t bits) {
    return is_floating(dtype) ? Constant{dtype, 0, std::bit_cast<double>(bits)} : Constant{dtype, bits, 0};
  }
  std::int64_t bits() const { return is_floating(dtype) ? std::bit_cast<std::int64_t>(real) : number; }
};

// A number that each run supplies in slot `slot`, such as a learning rate.
struct Scalar {
  DType dtype = DType::f32;
  std::int64_t slot = 0;
  static constexpr std::string_view kName = "scalar";
  static constexpr std::string_view kSignature = "-> []";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Scalar::dtype}, Attr{"slot", &Scalar::slot}};
};

// 0, 1, ..., size - 1.
struct Iota {
  DType dtype = DType::i64;
  std::int64_t size = 0;
  static constexpr std::string_view kName = "iota";
  static constexpr std::string_view kSignature = "-> [size]";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Iota::dtype}, Attr{"size", &Iota::size}};
};

// Counter-based random numbers (Philox4x32-10): an element depends only on (run seed, run offset + offset, its position
// in the whole value), so it is the same on every backend (ir/semantics/philox.h). The result is the box of `shape` at
// `starts` in a value of shape `whole`, so that members draw parts of the same value. Both empty: the whole value.
// `offset` counts blocks of four numbers from the start of the program; a box uses up the blocks of its whole value.
struct Random {
  RandomFn fn = RandomFn::uniform;
  DType dtype = DType::f32;  // f32 or f64; u64 for bits
  Shape shape;
  std::int64_t offset = 0;
  Shape whole;
  Dims starts;
  static constexpr std::string_view kName = "random";
  static constexpr std::string_view kSignature = "-> [shape]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"fn", &Random::fn},         Attr{"dtype", &Random::dtype}, Attr{"shape", &Random::shape},
                 Attr{"offset", &Random::offset}, Attr{"whole", &Random::whole}, Attr{"starts", &Random::starts}};

  const Shape& whole_shape() const { return whole.empty() ? shape : whole; }
};

// One row of pointwise.def. Operands have the result's shape, or rank 0.
struct Pointwise {
  PointwiseFn fn = PointwiseFn::add;
  static constexpr std::string_view kName = "pointwise";
  static constexpr std::string_view kSignature = "[...], ... -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"fn", &Pointwise::fn}};
};

// Converts the dtype: floats to integers round toward zero and saturate (NaN becomes 0), to bool is != 0.
struct Cast {
  DType dtype = DType::f32;
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kSignature = "[...] -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Cast::dtype}};
};

#define BURN_ELEMENTS_OPS(OP) OP(Constant) OP(Scalar) OP(Iota) OP(Random) OP(Pointwise) OP(Cast)

}  // namespace burn::ir
