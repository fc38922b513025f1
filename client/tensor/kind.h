// The kind of a tensor's elements, known at compile time; the dtype within a kind is a run-time property.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ir/ops/pointwise.h"
#include "ir/types/dtype.h"

namespace burn {

using ir::DType;

// Element: the type of one number on the host, in lists of numbers and as the result of item(). It holds the numbers of
// every dtype of the kind, except u64 numbers of 2^63 or more, which item() refuses. ListElement: another type that
// lists of numbers may have.
struct Float {
  using Element = double;
  using ListElement = float;
  static constexpr const char* kName = "Float";
  static constexpr DType kDefault = DType::f32;
  static bool holds(DType dtype) { return ir::is_floating(dtype); }
};
struct Int {
  using Element = std::int64_t;
  using ListElement = std::uint64_t;
  static constexpr const char* kName = "Int";
  static constexpr DType kDefault = DType::i64;
  static bool holds(DType dtype) { return ir::is_integer(dtype); }
};
struct Bool {
  using Element = bool;
  using ListElement = void;
  static constexpr const char* kName = "Bool";
  static constexpr DType kDefault = DType::bool_;
  static bool holds(DType dtype) { return ir::is_bool(dtype); }
};

template <typename K>
concept Kind = std::same_as<K, Float> || std::same_as<K, Int> || std::same_as<K, Bool>;
template <typename K>
concept Numeric = std::same_as<K, Float> || std::same_as<K, Int>;

namespace detail {

// Whether a function of this class takes tensors of the kind.
template <Kind K>
constexpr bool takes(ir::PointwiseClass kind) {
  switch (kind) {
    case ir::PointwiseClass::numeric:
      return Numeric<K>;
    case ir::PointwiseClass::floating:
    case ir::PointwiseClass::test:
      return std::same_as<K, Float>;
    case ir::PointwiseClass::integral:
      return std::same_as<K, Int>;
    case ir::PointwiseClass::logical:
      return std::same_as<K, Bool>;
    case ir::PointwiseClass::compare:
    case ir::PointwiseClass::choose:
      return true;
  }
  return false;
}

// The kind of its result.
template <ir::PointwiseClass kClass, Kind K>
using PointwiseKind =
    std::conditional_t<kClass == ir::PointwiseClass::compare || kClass == ir::PointwiseClass::test, Bool, K>;

}  // namespace detail
}  // namespace burn
