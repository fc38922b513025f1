// What a tensor holds, at compile time; the dtype within a kind is a run-time property.
#pragma once

#include <concepts>
#include <cstdint>

#include "ir/dtype.h"

namespace burn {

using ir::DType;

struct Float {
  using Element = float;  // of nested lists
  static constexpr const char* kName = "Float";
  static constexpr DType kDefault = DType::f32;
  static bool holds(DType dtype) { return ir::is_floating(dtype); }
};
struct Int {
  using Element = std::int64_t;
  static constexpr const char* kName = "Int";
  static constexpr DType kDefault = DType::i64;
  static bool holds(DType dtype) { return ir::is_integer(dtype); }
};
struct Bool {
  using Element = bool;
  static constexpr const char* kName = "Bool";
  static constexpr DType kDefault = DType::bool_;
  static bool holds(DType dtype) { return ir::is_bool(dtype); }
};

template <typename K>
concept Kind = std::same_as<K, Float> || std::same_as<K, Int> || std::same_as<K, Bool>;
template <typename K>
concept Numeric = std::same_as<K, Float> || std::same_as<K, Int>;

}  // namespace burn
