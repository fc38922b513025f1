#include "compile/lower/layouts.h"

#include <algorithm>
#include <optional>

namespace burn::compile {
namespace {

std::vector<std::int32_t> uses_of(const ir::Program& program) {
  std::vector<std::int32_t> uses(program.values.size());
  const auto use = [&](ir::Ref ref) {
    if (!ref.is_input()) ++uses[static_cast<std::size_t>(ref.index())];
  };
  for (const auto& node : program.nodes) std::ranges::for_each(program.operands_of(node), use);
  std::ranges::for_each(program.outputs, use);
  return uses;
}

bool is_output(const ir::Program& program, ir::Ref ref) {
  return std::ranges::find(program.outputs, ref) != program.outputs.end();
}

// The strides that `value` must have, so that a view of it with strides `seen` over `shape` lies as `wanted` says.
std::optional<ir::Dims> strides_for(const ir::Shape& value, const ir::Shape& shape, const ir::Dims& seen,
                                    const ir::Dims& wanted) {
  const auto own = ir::contiguous_strides(value);
  auto result = ir::Dims::filled(value.rank(), 0);
  for (int d = 0; d < value.rank(); ++d) {
    if (value[d] == 1) continue;
    int found = -1;
    for (int e = 0; e < shape.rank(); ++e) {
      if (shape[e] == value[d] && seen[e] == own[d]) found = e;
    }
    if (found < 0) return std::nullopt;
    result[d] = wanted[found];
  }
  return result;
}

}  // namespace

std::vector<ir::Dims> layouts_of(const ir::Program& program) {
  std::vector<ir::Dims> layouts;
  for (const auto& node : program.nodes) {
    const auto* permute = std::get_if<ir::Permute>(&node.op);
    if (!permute || permute->axes.rank() != 4) continue;
    const auto from = program.operands_of(node)[0];
    if (from.is_input() || is_output(program, from)) continue;
    const auto& maker = program.maker_of(from);
    if (!std::holds_alternative<ir::Attention>(maker.op) ||
        from.index() != static_cast<std::int32_t>(maker.first_value))
      continue;
    if (permute->axes[0] != 0 || permute->axes[1] != 2 || permute->axes[2] != 1) continue;
    const auto& shape = program.type_of(from).shape;
    layouts.resize(program.values.size());
    layouts[static_cast<std::size_t>(from.index())] = {shape[1] * shape[2] * shape[3], shape[3], shape[1] * shape[3],
                                                       1};
  }
  return layouts;
}

std::map<std::int32_t, PlaceInside> places_inside(const ir::Program& program, const std::vector<ValueView>& views) {
  std::map<std::int32_t, PlaceInside> places;
  const auto view_of = [&](ir::Ref ref) -> const ValueView& { return views[static_cast<std::size_t>(ref.index())]; };
  const auto is_grad = [&](ir::Ref ref) {
    return !ref.is_input() && !view_of(ref).base.is_input() &&
           std::holds_alternative<ir::AttentionGrad>(program.maker_of(view_of(ref).base).op);
  };
  std::vector<std::int32_t> uses;
  for (const auto& node : program.nodes) {
    const auto* concat = std::get_if<ir::Concat>(&node.op);
    if (!concat) continue;
    const auto operands = program.operands_of(node);
    if (std::ranges::none_of(operands, is_grad)) continue;
    if (uses.empty()) uses = uses_of(program);
    const auto whole = ir::Ref::value(static_cast<std::int32_t>(node.first_value));
    if (is_output(program, whole)) continue;
    const auto strides = ir::contiguous_strides(program.type_of(whole).shape);
    std::int64_t offset = 0;
    for (const auto part : operands) {
      const auto& shape = program.type_of(part).shape;
      const auto here = offset;
      offset += shape[static_cast<int>(concat->axis)] * strides[static_cast<int>(concat->axis)];
      if (!is_grad(part)) continue;
      const auto& view = view_of(part);
      bool is_read_once = true;
      for (auto ref = part; is_read_once; ref = program.operands_of(program.maker_of(ref))[0]) {
        is_read_once = uses[static_cast<std::size_t>(ref.index())] == 1;
        if (ref == view.base) break;
      }
      const auto& type = program.type_of(view.base);
      if (!is_read_once || view.offset != 0 || type.num_elements() != ir::num_elements(shape)) continue;
      const auto found = strides_for(type.shape, shape, view.strides, strides);
      if (found) places.emplace(view.base.index(), PlaceInside{whole, here, *found});
    }
  }
  return places;
}

}  // namespace burn::compile
