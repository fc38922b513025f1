// Element types: the enum made from the table dtype.def, and their properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace burn::ir {

enum class DType : std::uint8_t {
#define DT(name, text, type, bytes, kind) name,
#include "ir/types/dtype.def"
#undef DT
};

enum class DTypeClass : std::uint8_t { floating, signed_integer, unsigned_integer, boolean };

inline constexpr int kDTypeCount = 0
#define DT(name, text, type, bytes, kind) +1
#include "ir/types/dtype.def"
#undef DT
    ;

std::string_view name(DType dtype);                       // "f32"
std::optional<DType> parse_dtype(std::string_view text);  // the inverse
DTypeClass dtype_class(DType dtype);

// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  constexpr std::uint8_t kBytes[] = {
#define DT(name, text, type, bytes, kind) bytes,
#include "ir/types/dtype.def"
#undef DT
  };
  return kBytes[static_cast<int>(dtype)];
}

inline bool is_floating(DType dtype) { return dtype_class(dtype) == DTypeClass::floating; }
inline bool is_integer(DType dtype) {
  return dtype_class(dtype) == DTypeClass::signed_integer || dtype_class(dtype) == DTypeClass::unsigned_integer;
}
inline bool is_bool(DType dtype) { return dtype == DType::bool_; }

// The dtype that arithmetic is done in: f32 for the 16-bit floats, otherwise the dtype itself.
constexpr DType compute_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

}  // namespace burn::ir
