#include "compile/plan/views.h"

namespace burn::compile {

bool is_contiguous(const ir::Shape& shape, const ir::Dims& strides) {
  std::int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (shape[i] == 0) return true;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::optional<ir::Dims> reshaped_strides(const ir::Shape& shape, const ir::Dims& strides, const ir::Shape& to) {
  auto result = ir::contiguous_strides(to);
  if (ir::num_elements(shape) <= 1 || is_contiguous(shape, strides)) return result;

  // Walk both shapes from the inside; where products agree, the group of old dims must be one run of equal steps.
  int from = shape.rank() - 1, at = to.rank() - 1;
  while (from >= 0 && at >= 0) {
    std::int64_t old_size = shape[from], new_size = to[at];
    const int last_from = from, last_at = at;
    while (old_size != new_size) {
      if (old_size < new_size)
        old_size *= shape[--from];
      else
        new_size *= to[--at];
    }
    std::int64_t step = 0, next = 0;  // of the innermost element of the group, and what the next outer dim must have
    bool started = false;
    for (int i = last_from; i >= from; --i) {
      if (shape[i] == 1) continue;
      if (!started)
        step = strides[i];
      else if (strides[i] != next)
        return std::nullopt;
      started = true;
      next = strides[i] * shape[i];
    }
    for (int i = last_at; i >= at; --i) {
      result[i] = step;
      step *= to[i];
    }
    --from;
    --at;
  }
  for (; at >= 0; --at) result[at] = 0;  // only sizes of 1 are left
  return result;
}

namespace {

// The view that a node makes of its operand's view; std::nullopt if the node computes its result.
class ViewRules {
 public:
  ViewRules(const ValueView& from, const ir::Shape& shape) : from_(from), shape_(shape) {}

  std::optional<ValueView> operator()(const ir::Reshape& op) const {
    auto strides = reshaped_strides(shape_, from_.strides, op.shape);
    if (!strides) return std::nullopt;
    return ValueView{from_.base, from_.offset, *strides};
  }
  std::optional<ValueView> operator()(const ir::Permute& op) const {
    ValueView view = from_;
    for (int i = 0; i < shape_.rank(); ++i) view.strides[i] = from_.strides[static_cast<int>(op.axes[i])];
    return view;
  }
  std::optional<ValueView> operator()(const ir::Expand& op) const {
    ValueView view = from_;
    view.strides = ir::Dims::filled(op.shape.rank(), 0);
    const int added = op.shape.rank() - shape_.rank();
    for (int i = 0; i < shape_.rank(); ++i) {
      if (shape_[i] == op.shape[added + i]) view.strides[added + i] = from_.strides[i];
    }
    return view;
  }
  std::optional<ValueView> operator()(const ir::Slice& op) const {
    ValueView view = from_;
    if (ir::num_elements(op.sizes) == 0) return view;  // its start may lie outside
    for (int i = 0; i < shape_.rank(); ++i) {
      view.offset += op.starts[i] * from_.strides[i];
      view.strides[i] = from_.strides[i] * op.steps[i];
    }
    return view;
  }
  std::optional<ValueView> operator()(const ir::Place&) const { return from_; }
  template <typename Other>
  std::optional<ValueView> operator()(const Other&) const {
    return std::nullopt;
  }

 private:
  const ValueView& from_;
  const ir::Shape& shape_;
};

}  // namespace

bool may_be_view(const ir::Op& op) {
  return std::holds_alternative<ir::Reshape>(op) || std::holds_alternative<ir::Permute>(op) ||
         std::holds_alternative<ir::Expand>(op) || std::holds_alternative<ir::Slice>(op) ||
         std::holds_alternative<ir::Place>(op);
}

std::vector<ValueView> find_views(const ir::Program& program) { return find_views(program, {}); }

std::vector<ValueView> find_views(const ir::Program& program, std::span<const ir::Dims> layouts) {
  const auto own_strides = [&](ir::Ref ref) {
    const auto& shape = program.type_of(ref).shape;
    const auto index = static_cast<std::size_t>(ref.index());
    const bool is_special = index < layouts.size() && layouts[index].rank() == shape.rank() && shape.rank() > 0;
    return is_special ? layouts[index] : ir::contiguous_strides(shape);
  };
  std::vector<ValueView> views;
  views.reserve(program.values.size());
  for (const auto& node : program.nodes) {
    const auto operands = program.operands_of(node);
    std::optional<ValueView> view;
    if (!operands.empty()) {
      const auto& type = program.type_of(operands[0]);
      const auto from = operands[0].is_input() ? ValueView{operands[0], 0, ir::contiguous_strides(type.shape)}
                                               : views[static_cast<std::size_t>(operands[0].index())];
      view = std::visit(ViewRules(from, type.shape), node.op);
    }
    for (std::uint32_t k = 0; k < node.value_count; ++k) {
      const auto ref = ir::Ref::value(static_cast<std::int32_t>(node.first_value + k));
      views.push_back(view ? *view : ValueView{ref, 0, own_strides(ref)});
    }
  }
  return views;
}

}  // namespace burn::compile
