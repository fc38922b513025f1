// Finds values of a program that are views of others: the same memory with another shape and other strides.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// A value as a view of its base, which is an input or a value that is computed.
struct ValueView {
  ir::Ref base;
  std::int64_t offset = 0;  // of the first element, in elements of the base
  ir::Dims strides;         // in elements; 0 along repeated dims, negative along reversed ones
};

// Whether elements are stored row-major without gaps.
bool is_contiguous(const ir::Shape& shape, const ir::Dims& strides);

// The strides with which a view of `shape` and `strides` is reshaped to `to`, in row-major order of its elements;
// std::nullopt if that takes a copy. Requires: equal numbers of elements.
std::optional<ir::Dims> reshaped_strides(const ir::Shape& shape, const ir::Dims& strides, const ir::Shape& to);

// Whether the result of this kind of op may be a view of its operand.
bool may_be_view(const ir::Op& op);

// Per value of the program. Permutes, expands, slices and places are views of their operand's base, and so are reshapes
// if the strides allow it; any other value is its own base.
std::vector<ValueView> find_views(const ir::Program& program);
// The same if some values that are their own base are not row-major. `layouts`: strides per value, or empty; a value
// whose entry has another rank than its shape is row-major.
std::vector<ValueView> find_views(const ir::Program& program, std::span<const ir::Dims> layouts);

}  // namespace burn::compile
