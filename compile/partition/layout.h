// How a value lies on the members of a group of devices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/ops/axes.h"
#include "ir/ops/moves.h"
#include "ir/types/shape.h"

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

// How members are arranged: in rows along "data", each of which has as many along "model". Member d * model + m is the
// d-th and the m-th. A mesh of one axis has size 1 along the other.
struct Mesh {
  int data = 1, model = 1;

  int members() const { return data * model; }
  int size(ir::MeshAxis axis) const { return axis == ir::MeshAxis::data ? data : model; }
  int rank(ir::MeshAxis axis, int member) const { return axis == ir::MeshAxis::data ? member / model : member % model; }
  friend bool operator==(const Mesh&, const Mesh&) = default;
};
inline constexpr ir::MeshAxis kMeshAxes[] = {ir::MeshAxis::data, ir::MeshAxis::model};

// Of the group of a session (ir/ops/collectives.h) whose members are those along an axis.
constexpr std::int64_t group_of(ir::MeshAxis axis) { return axis == ir::MeshAxis::data ? 0 : 1; }

// A layout along each axis of a mesh. They are of two dims, where both are splits: a member has what both leave it.
struct MeshLayout {
  Layout data, model;

  MeshLayout() = default;
  MeshLayout(Layout along_data) : data(std::move(along_data)) {}  // NOLINT: as a mesh of one axis has it
  MeshLayout(Layout along_data, Layout along_model) : data(std::move(along_data)), model(std::move(along_model)) {}

  const Layout& along(ir::MeshAxis axis) const { return axis == ir::MeshAxis::data ? data : model; }
  bool is_whole() const { return data.is_whole() && model.is_whole(); }
  friend bool operator==(const MeshLayout&, const MeshLayout&) = default;
};
std::string to_string(const MeshLayout& layout);  // as of a layout; "split 0 at 0 2 4, split 1 at 0 3 6 along model"

// As of layouts. Two splits of one dim are INVALID_ARGUMENT, too.
Status check_layout(const ir::TensorType& whole, const MeshLayout& layout, const Mesh& mesh);
ir::TensorType part_of(const ir::TensorType& whole, const MeshLayout& layout, const Mesh& mesh, int member);

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
