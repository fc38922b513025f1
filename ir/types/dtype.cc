#include "ir/types/dtype.h"

#include <array>

namespace burn::ir {

std::string_view name(DType dtype) {
  static constexpr std::array<std::string_view, kDTypeCount> kNames = {
#define DT(name, text, type, bytes, kind) text,
#include "ir/types/dtype.def"
#undef DT
  };
  return kNames[static_cast<std::size_t>(dtype)];
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (name(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

DTypeClass dtype_class(DType dtype) {
  static constexpr std::array<DTypeClass, kDTypeCount> kClasses = {
#define DT(name, text, type, bytes, kind) DTypeClass::kind,
#include "ir/types/dtype.def"
#undef DT
  };
  return kClasses[static_cast<std::size_t>(dtype)];
}

}  // namespace burn::ir
