// How a value lies on the members of a group of devices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/ops/axes.h"
#include "ir/shape.h"

namespace burn::compile::partition {

// Offsets of the members' parts along a dim: members + 1 of them, not decreasing, from 0 to its size. Parts may be
// uneven and empty.
using Bounds = std::vector<std::int64_t>;

// As even as can be: part k begins at floor(k * size / members). Requires: members >= 1.
Bounds balanced(std::int64_t size, int members);
// In proportion to the weights, of which each is >= 0 and one is not 0.
Bounds weighted(std::int64_t size, std::span<const double> weights);

// Whole on each member, or split along a dim.
struct Layout {
  std::int32_t dim = -1;
  Bounds bounds;  // empty where it is whole

  static Layout split(int dim, Bounds bounds) { return {dim, std::move(bounds)}; }
  bool is_whole() const { return dim < 0; }
  friend bool operator==(const Layout&, const Layout&) = default;
};
std::string to_string(const Layout& layout);  // "whole", "split 0 at 0 2 4"

// INVALID_ARGUMENT where a value of that type cannot lie so on that many members.
Status check_layout(const ir::TensorType& whole, const Layout& layout, int members);

// The type of a member's part. Requires: check_layout(whole, layout, more than `member`).ok().
ir::TensorType part_of(const ir::TensorType& whole, const Layout& layout, int member);

// The sizes of the parts.
ir::Dims sizes_of(const Bounds& bounds);

// Layouts and a third way, within a program: each member has a value of the whole's shape, and all of them combined,
// by `fn`, are the whole value.
struct Form {
  Layout layout;
  bool is_partial = false;  // then the layout is whole
  ir::ReduceFn fn = ir::ReduceFn::sum;

  static Form whole() { return {}; }
  static Form split(int dim, Bounds bounds) { return {Layout::split(dim, std::move(bounds)), false, {}}; }
  static Form of(Layout layout) { return {std::move(layout), false, {}}; }
  static Form partial(ir::ReduceFn fn) { return {{}, true, fn}; }

  bool is_whole() const { return !is_partial && layout.is_whole(); }
  bool is_split() const { return !layout.is_whole(); }
  friend bool operator==(const Form&, const Form&) = default;
};
std::string to_string(const Form& form);  // as of a layout; "partial sum"

// What changing a value from one form to another takes: bytes that each member sends, on average. Slices cost nothing.
double conversion_bytes(const ir::TensorType& type, const Form& from, const Form& to, int members);

}  // namespace burn::compile::partition
