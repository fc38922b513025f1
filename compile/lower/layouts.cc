#include "compile/lower/layouts.h"

#include <algorithm>
#include <optional>

#include "compile/rewrite/uses.h"

namespace burn::compile {
namespace {

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

namespace {

// What puts values side by side, and what is asked about its parts.
class Places {
 public:
  Places(const ir::Program& program, const std::vector<ValueView>& views)
      : program_(program), views_(views), is_output_base_(program.values.size()) {
    for (const auto output : program.outputs) {
      if (!output.is_input() && !view_of(output).base.is_input()) is_output_base_[index(view_of(output).base)] = true;
    }
  }

  std::map<std::int32_t, PlaceInside> find() {
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      const auto* concat = std::get_if<ir::Concat>(&program_.nodes[n].op);
      if (concat != nullptr) add_parts_of(static_cast<std::int32_t>(n), static_cast<int>(concat->axis));
    }
    return std::move(places_);
  }

 private:
  static std::size_t index(ir::Ref value) { return static_cast<std::size_t>(value.index()); }
  const ValueView& view_of(ir::Ref ref) const { return views_[index(ref)]; }

  void add_parts_of(std::int32_t n, int axis) {
    const auto& node = program_.nodes[static_cast<std::size_t>(n)];
    const auto operands = program_.operands_of(node);
    const auto whole = ir::Ref::value(static_cast<std::int32_t>(node.first_value));
    if (is_output_base_[index(whole)]) return;
    const auto strides = ir::contiguous_strides(program_.type_of(whole).shape);
    std::vector<std::pair<std::int32_t, PlaceInside>> found;
    std::int64_t offset = 0;
    for (const auto part : operands) {
      if (const auto place = place_of(part, operands, PlaceInside{whole, offset, strides}))
        found.emplace_back(view_of(part).base.index(), *place);
      offset += program_.type_of(part).shape[axis] * strides[axis];
    }
    if (is_worth_its_memory(n, whole, found)) places_.insert(found.begin(), found.end());
  }

  // `here`: the part's begin in the whole, and the whole's strides.
  std::optional<PlaceInside> place_of(ir::Ref part, std::span<const ir::Ref> parts, const PlaceInside& here) {
    if (part.is_input() || view_of(part).base.is_input()) return std::nullopt;
    const auto& view = view_of(part);
    const auto& type = program_.type_of(view.base);
    const auto& shape = program_.type_of(part).shape;
    if (view.offset != 0 || type.num_elements() != ir::num_elements(shape) || type.num_elements() == 0)
      return std::nullopt;
    if (is_output_base_[index(view.base)] || places_.contains(view.base.index())) return std::nullopt;
    if (lies_in_one_piece(part, parts, here)) return PlaceInside{here.whole, here.offset, {}, true};
    const auto& maker = program_.maker_of(view.base).op;
    const bool can_be_asked = std::holds_alternative<ir::AttentionGrad>(maker) ||
                              std::holds_alternative<ir::Pointwise>(maker) || std::holds_alternative<ir::Cast>(maker);
    if (!can_be_asked || !is_read_once(part)) return std::nullopt;
    const auto found = strides_for(type.shape, shape, view.strides, here.strides);
    return found ? std::optional{PlaceInside{here.whole, here.offset, *found, false}} : std::nullopt;
  }

  // Whether the part is whole steps of the outermost dims that are not 1, so that it lies there as by itself, and
  // begins where memory of its own could.
  bool lies_in_one_piece(ir::Ref part, std::span<const ir::Ref> parts, const PlaceInside& here) const {
    constexpr std::int64_t kAlignment = 256;  // bytes
    const auto& view = view_of(part);
    const auto& shape = program_.type_of(part).shape;
    const auto& type = program_.type_of(view.base);
    const auto& node = program_.maker_of(view.base);
    const bool is_computed =
        !std::holds_alternative<ir::Constant>(node.op) && !std::holds_alternative<ir::Scalar>(node.op) &&
        !std::holds_alternative<ir::Iota>(node.op) && !std::holds_alternative<ir::Commit>(node.op) &&
        !std::holds_alternative<ir::AttentionGrad>(node.op) && !ir::is_collective(node.op);
    const auto has_this_base = [&](ir::Ref other) { return !other.is_input() && view_of(other).base == view.base; };
    return is_computed && is_contiguous(shape, view.strides) &&
           is_contiguous(type.shape, views_[index(view.base)].strides) && is_contiguous(shape, here.strides) &&
           here.offset * static_cast<std::int64_t>(ir::size_of(type.dtype)) % kAlignment == 0 &&
           std::ranges::count_if(parts, has_this_base) == 1;
  }

  // Only by the concatenation, as the view that it is there.
  bool is_read_once(ir::Ref part) {
    if (uses_.empty()) uses_ = count_uses(program_);
    for (auto ref = part;; ref = program_.operands_of(program_.maker_of(ref))[0]) {
      if (uses_[index(ref)] != 1) return false;
      if (ref == view_of(part).base) return true;
    }
  }

  // The whole takes memory from its first part on, not from when it is put together. Bytes times nodes, against what
  // its parts by themselves and then the whole take.
  bool is_worth_its_memory(std::int32_t concat, ir::Ref whole,
                           const std::vector<std::pair<std::int32_t, PlaceInside>>& found) const {
    constexpr double kSmall = 1 << 20, kMore = 3;
    const auto bytes_of = [&](ir::Ref ref) { return static_cast<double>(program_.type_of(ref).num_bytes()); };
    double parts = bytes_of(whole), longest = 0;
    for (const auto& [value, place] : found) {
      const auto part = ir::Ref::value(value);
      const auto nodes = static_cast<double>(concat - program_.values[index(part)].node);
      parts += nodes * bytes_of(part);
      longest = std::max(longest, nodes);
    }
    return bytes_of(whole) <= kSmall || longest * bytes_of(whole) <= kMore * parts;
  }

  const ir::Program& program_;
  const std::vector<ValueView>& views_;
  std::vector<bool> is_output_base_;  // per value: an output is it, or a view of it
  std::vector<std::int32_t> uses_;    // per value, when they are asked for
  std::map<std::int32_t, PlaceInside> places_;
};

}  // namespace

std::map<std::int32_t, PlaceInside> places_inside(const ir::Program& program, const std::vector<ValueView>& views) {
  return Places(program, views).find();
}

}  // namespace burn::compile
