// Ops that treat each element by itself, and those that make elements from nothing. Their shape rules are in the .cc
// file.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"
#include "ir/ops/pointwise.h"

namespace burn::ir {

// In [0, 1); of mean 0 and deviation 1; any of the 2^64 numbers.
enum class RandomFn : std::uint8_t { uniform, normal, bits };

// A number known when the program is written: `real` of floats, `number` of the rest (u64: the int64 of the same bits).
// The other one is 0.
struct Constant {
  DType dtype = DType::f32;
  std::int64_t number = 0;
  double real = 0;
  static constexpr std::string_view kName = "constant";
  static constexpr std::string_view kSignature = "-> []";
  static constexpr auto kAttrs =
      std::tuple{Attr{"dtype", &Constant::dtype}, Attr{"number", &Constant::number}, Attr{"real", &Constant::real}};

  // By the bits in which numbers of any dtype travel as scalars: a double's for floats, an int64's for the rest.
  static Constant of_bits(DType dtype, std::int64_t bits) {
    return is_floating(dtype) ? Constant{dtype, 0, std::bit_cast<double>(bits)} : Constant{dtype, bits, 0};
  }
  std::int64_t bits() const { return is_floating(dtype) ? std::bit_cast<std::int64_t>(real) : number; }
};

// A number given anew with each run, in slot `slot` of its bindings: what a user writes as a scalar, a learning rate.
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

// Counter-based random numbers (Philox4x32-10): an element is a function of (run seed, run offset + offset, its
// position in the whole value) alone, so the same on every backend (ir/semantics/philox.h). What is drawn is the box of
// `shape` that begins at `starts` in a value of shape `whole`: parts drawn apart are those of the whole. Both empty:
// all of it. `offset` counts blocks of four numbers from the start of the program; every box takes those of its whole.
struct Random {
  RandomFn fn = RandomFn::uniform;
  DType dtype = DType::f32;  // f32 or f64; of bits: u64
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

// Conversion: floats to integers toward zero and saturating (NaN gives 0), anything to bool as != 0.
struct Cast {
  DType dtype = DType::f32;
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kSignature = "[...] -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Cast::dtype}};
};

#define BURN_ELEMENTS_OPS(OP) OP(Constant) OP(Scalar) OP(Iota) OP(Random) OP(Pointwise) OP(Cast)

}  // namespace burn::ir
