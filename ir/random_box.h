// Where the elements of a Random's box are in the whole value.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/ops.h"

namespace burn::ir {

// The row-major position of the box's first element in the whole value; std::nullopt if the box is not contiguous
// there.
std::optional<std::int64_t> first_position(const Random& op);

// Calls body(begin, position, count) for each contiguous part of the box, in order: elements [begin, begin + count) of
// the box are elements [position, position + count) of the whole value.
template <typename Body>
void for_each_stretch(const Random& op, const Body& body) {
  const std::int64_t elements = num_elements(op.shape);
  if (elements == 0) return;
  if (const auto first = first_position(op)) {
    body(std::int64_t{0}, *first, elements);
    return;
  }
  const Dims strides = contiguous_strides(op.whole);
  const int last = op.shape.rank() - 1;
  Dims at = op.starts;
  for (std::int64_t begin = 0; begin < elements; begin += op.shape[last]) {
    std::int64_t position = 0;
    for (int i = 0; i <= last; ++i) position += at[i] * strides[i];
    body(begin, position, op.shape[last]);
    for (int i = last - 1; i >= 0 && ++at[i] == op.starts[i] + op.shape[i]; --i) at[i] = op.starts[i];
  }
}

}  // namespace burn::ir
