#include "compile/partition/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "ir/enums.h"

namespace burn::compile::partition {

Bounds balanced(std::int64_t size, int members) {
  Bounds bounds;
  const auto quotient = size / members, remainder = size % members;  // size * k may leave 64 bits
  for (int k = 0; k <= members; ++k) bounds.push_back(quotient * k + remainder * k / members);
  return bounds;
}

Bounds weighted(std::int64_t size, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Bounds bounds{0};
  double before = 0;
  for (const double weight : weights.first(weights.size() - 1)) {
    before += weight;
    const auto bound = static_cast<std::int64_t>(std::floor(static_cast<double>(size) * (before / sum)));
    bounds.push_back(std::clamp(bound, bounds.back(), size));
  }
  bounds.push_back(size);
  return bounds;
}

std::string to_string(const Layout& layout) {
  if (layout.is_whole()) return "whole";
  return fmt::format("split {} at {}", layout.dim, fmt::join(layout.bounds, " "));
}

std::string to_string(const Form& form) {
  return form.is_partial ? fmt::format("partial {}", name(form.fn)) : to_string(form.layout);
}

Status check_layout(const ir::TensorType& whole, const Layout& layout, int members) {
  if (layout.is_whole()) return {};
  const auto& bounds = layout.bounds;
  const bool fits = layout.dim < whole.shape.rank() && bounds.size() == static_cast<std::size_t>(members) + 1 &&
                    bounds.front() == 0 && bounds.back() == whole.shape[layout.dim] &&
                    std::is_sorted(bounds.begin(), bounds.end());
  if (fits) return {};
  return invalid_argument(
      fmt::format("{} does not divide {} among {} members", to_string(layout), to_string(whole), members));
}

ir::TensorType part_of(const ir::TensorType& whole, const Layout& layout, int member) {
  if (layout.is_whole()) return whole;
  auto part = whole;
  const auto k = static_cast<std::size_t>(member);
  part.shape[layout.dim] = layout.bounds[k + 1] - layout.bounds[k];
  return part;
}

std::string to_string(const MeshLayout& layout) {
  if (layout.model.is_whole()) return to_string(layout.data);
  return fmt::format("{}, {} along model", to_string(layout.data), to_string(layout.model));
}

Status check_layout(const ir::TensorType& whole, const MeshLayout& layout, const Mesh& mesh) {
  for (const auto axis : kMeshAxes) BURN_RETURN_IF_ERROR(check_layout(whole, layout.along(axis), mesh.size(axis)));
  if (layout.data.is_whole() || layout.data.dim != layout.model.dim) return {};
  return invalid_argument(
      fmt::format("{} divides dim {} of {} along both axes", to_string(layout), layout.data.dim, to_string(whole)));
}

ir::TensorType part_of(const ir::TensorType& whole, const MeshLayout& layout, const Mesh& mesh, int member) {
  return part_of(part_of(whole, layout.data, mesh.rank(ir::MeshAxis::data, member)), layout.model,
                 mesh.rank(ir::MeshAxis::model, member));
}

ir::Dims sizes_of(const Bounds& bounds) {
  ir::Dims sizes;
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) sizes.push_back(bounds[k + 1] - bounds[k]);
  return sizes;
}

double conversion_bytes(const ir::TensorType& type, const Form& from, const Form& to, int members) {
  if (from == to || from.is_whole()) return 0;
  const auto n = static_cast<double>(members);
  const double others = static_cast<double>(type.num_bytes()) * (n - 1) / n;
  if (from.is_partial) return to.is_split() ? others : 2 * others;
  return to.is_split() ? others / n : others;
}

}  // namespace burn::compile::partition
