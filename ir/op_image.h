// The byte image of an op whose type is known at compile time; ir::write_image() is for any Op. For the .cc files of
// ir/.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "ir/attr_visit.h"

namespace burn::ir::detail {

template <typename Field>
std::byte* put_field(std::byte* out, const Field& field) {
  if constexpr (std::is_same_v<Field, Dims>) {
    *out++ = static_cast<std::byte>(field.rank());
    const auto numbers = std::as_bytes(field.span());
    std::memcpy(out, numbers.data(), numbers.size());
    return out + numbers.size();
  } else {
    static_assert(sizeof(Field) == 8 || sizeof(Field) == 1);
    std::memcpy(out, &field, sizeof(Field));
    return out + sizeof(Field);
  }
}

// The first byte of an image: the index of the kind among the alternatives of Op.
template <typename Kind>
constexpr std::byte image_tag() {
  std::size_t index = 0, found = 0;
#define OP(type) found += std::is_same_v<type, Kind> ? index : 0, ++index;
  BURN_OPS(OP)
#undef OP
  return static_cast<std::byte>(found);
}

// Writes the image to `out` and returns its end.
template <typename Kind>
std::byte* put_image(std::byte* out, const Kind& kind) {
  *out++ = image_tag<Kind>();
  for_each_attr(kind, [&](std::string_view, const auto& field) { out = put_field(out, field); });
  return out;
}

}  // namespace burn::ir::detail
