// Which values of a program are views of others: the same memory under another shape and other strides.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// A value as a part of another one, its base, which is an input or a value that is computed.
struct ValueView {
  ir::Ref base;
  std::int64_t offset = 0;  // of the first element, in elements of the base
  ir::Dims strides;         // in elements; 0 where elements repeat, negative where they run back
};

// Row-major without gaps.
bool is_contiguous(const ir::Shape& shape, const ir::Dims& strides);

// The strides under which elements of `shape` and `strides` have another shape, row-major; nothing when only a copy
// has that shape. Requires: as many elements.
std::optional<ir::Dims> reshaped_strides(const ir::Shape& shape, const ir::Dims& strides, const ir::Shape& to);

// Whether an op may give a view of its operand, as far as its kind tells.
bool may_be_view(const ir::Op& op);

// For every value of the program: permutes, expands, slices and places are views of their operand's base, reshapes are
// where strides allow it; any other value is its own base.
std::vector<ValueView> find_views(const ir::Program& program);
// The same where some values that are their own base have strides of their own. `layouts`: per value; rank 0 of a value
// of another rank: row-major.
std::vector<ValueView> find_views(const ir::Program& program, std::span<const ir::Dims> layouts);

}  // namespace burn::compile
