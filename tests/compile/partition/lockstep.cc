#include "tests/compile/partition/lockstep.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <type_traits>

#include "ir/attrs.h"

namespace burn::testing {
namespace {

using compile::partition::Bounds;
using compile::partition::Layout;
using compile::partition::Mesh;
using compile::partition::MeshLayout;
using reference::Tensor;

// Copies the elements of `part`, which begins at `start` along a dim of `whole`, in one of both directions.
template <typename Whole, typename Part, typename Move>
void walk_part(Whole& whole, Part& part, int dim, std::int64_t start, const Move& move) {
  std::size_t i = 0;
  reference::for_each_index(part.type.shape, [&](ir::Dims at) {
    at[dim] += start;
    move(whole.bits[reference::position(whole.type.shape, at)], part.bits[i++]);
  });
}

Bounds bounds_of(const ir::Dims& sizes) {
  Bounds bounds{0};
  for (const auto size : sizes) bounds.push_back(bounds.back() + size);
  return bounds;
}

// Integers wrap, as on a device.
template <typename T>
T combined(ir::ReduceFn fn, T a, T b) {
  const auto wrapped = [&](auto of) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(of(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    } else {
      return static_cast<T>(of(a, b));
    }
  };
  switch (fn) {
    case ir::ReduceFn::sum:
      return wrapped(std::plus{});
    case ir::ReduceFn::prod:
      return wrapped(std::multiplies{});
    case ir::ReduceFn::max:
      return reference::larger(a, b);
    case ir::ReduceFn::min:
      return reference::smaller(a, b);
  }
  return a;
}

Tensor combined(ir::ReduceFn fn, std::span<const Tensor* const> operands) {
  Tensor y(operands[0]->type);
  reference::visit_kind(y.type.dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < y.size(); ++i) {
      T sum = operands[0]->get<T>(i);
      for (const auto* x : operands.subspan(1)) sum = combined(fn, sum, x->get<T>(i));
      y.set(i, sum);
    }
  });
  return y;
}

Tensor joined(std::span<const Tensor* const> parts, int dim, const ir::Dims& sizes) {
  const auto bounds = bounds_of(sizes);
  auto type = parts[0]->type;
  type.shape[dim] = bounds.back();
  Tensor whole(type);
  for (std::size_t m = 0; m < parts.size(); ++m) {
    if (parts[m]->type.shape[dim] != sizes[static_cast<int>(m)]) throw std::logic_error("a part has another size");
    walk_part(whole, *parts[m], dim, bounds[m], [](std::uint64_t& to, std::uint64_t from) { to = from; });
  }
  return whole;
}

// The result of a collective for one member.
Tensor result(const ir::AllReduce& op, std::span<const Tensor* const> operands) { return combined(op.fn, operands); }
Tensor result(const ir::ReduceScatter& op, std::span<const Tensor* const> operands) {
  const auto dim = static_cast<int>(op.dim);
  return part(combined(op.fn, operands), Layout::split(dim, bounds_of(op.sizes)), static_cast<int>(op.member));
}
Tensor result(const ir::AllGather& op, std::span<const Tensor* const> operands) {
  return joined(operands, static_cast<int>(op.dim), op.sizes);
}
Tensor result(const ir::AllToAll& op, std::span<const Tensor* const> operands) {
  const auto whole = joined(operands, static_cast<int>(op.from), op.from_sizes);
  return part(whole, Layout::split(static_cast<int>(op.to), bounds_of(op.sizes)), static_cast<int>(op.member));
}

// A collective without its member's number: the attributes that must be equal on all members.
ir::Op without_member(ir::Op op) {
  std::visit(
      [](auto& kind) {
        if constexpr (requires { kind.member; }) kind.member = 0;
      },
      op);
  return op;
}

// The members of a group that the member is in, by rank.
std::vector<int> row_of(const Mesh& mesh, std::int64_t group, int member) {
  const auto axis =
      group == compile::partition::group_of(ir::MeshAxis::data) ? ir::MeshAxis::data : ir::MeshAxis::model;
  const int stride = axis == ir::MeshAxis::data ? mesh.model : 1;
  std::vector<int> row;
  for (int k = 0; k < mesh.size(axis); ++k) row.push_back(member + (k - mesh.rank(axis, member)) * stride);
  return row;
}

class Member {
 public:
  Member(const ir::Program& program, std::span<const Tensor> inputs, const reference::Bindings& bindings)
      : program_(program), inputs_(inputs), bindings_(bindings) {
    if (inputs.size() != program.inputs.size()) throw std::logic_error("a member's inputs are missing");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].type != program.inputs[i].type) throw std::logic_error("a member's input is of another type");
    }
  }

  // The collective that it comes to, or null at the end.
  const ir::Node* next_collective() {
    for (; at_ < program_.nodes.size(); ++at_) {
      const auto& node = program_.nodes[at_];
      if (ir::is_collective(node.op)) return &node;
      std::vector<const Tensor*> operands;
      for (const auto ref : program_.operands_of(node)) operands.push_back(&value(ref));
      for (auto& made : reference::evaluate(node.op, program_.type_of(node), operands, bindings_))
        give(std::move(made));
    }
    return nullptr;
  }

  const Tensor& operand() const { return value(program_.operands_of(program_.nodes[at_])[0]); }
  void pass(Tensor made) {
    give(std::move(made));
    ++at_;
  }

  std::vector<Tensor> outputs() const {
    std::vector<Tensor> outputs;
    for (const auto ref : program_.outputs) outputs.push_back(value(ref));
    return outputs;
  }

 private:
  const Tensor& value(ir::Ref ref) const {
    const auto i = static_cast<std::size_t>(ref.index());
    return ref.is_input() ? inputs_[i] : values_[i];
  }
  void give(Tensor made) {
    if (made.type != program_.values[values_.size()].type) throw std::logic_error("a node gave another type");
    values_.push_back(std::move(made));
  }

  const ir::Program& program_;
  std::span<const Tensor> inputs_;
  const reference::Bindings& bindings_;
  std::vector<Tensor> values_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::vector<Tensor>> run_in_lockstep(std::span<const std::shared_ptr<const ir::Program>> members,
                                                 const Mesh& mesh, std::span<const std::vector<Tensor>> inputs,
                                                 const reference::Bindings& bindings) {
  std::vector<Member> running;
  for (std::size_t m = 0; m < members.size(); ++m) running.emplace_back(*members[m], inputs[m], bindings);
  while (true) {
    std::vector<const ir::Node*> nodes;
    for (auto& member : running) nodes.push_back(member.next_collective());
    if (!nodes[0]) {
      for (const auto* node : nodes) {
        if (node) throw std::logic_error("a member has more collectives than others");
      }
      break;
    }
    for (const auto* node : nodes) {
      if (!node || to_string(without_member(node->op)) != to_string(without_member(nodes[0]->op)))
        throw std::logic_error("members differ in their collectives");
    }
    std::vector<Tensor> results;
    for (std::size_t m = 0; m < running.size(); ++m) {
      std::visit(
          [&]<typename Kind>(const Kind& op) {
            if constexpr (requires { result(op, {}); }) {
              std::vector<const Tensor*> operands;  // of the members of its group
              for (const auto other : row_of(mesh, op.group, static_cast<int>(m)))
                operands.push_back(&running[static_cast<std::size_t>(other)].operand());
              results.push_back(result(op, operands));
            }
          },
          nodes[m]->op);
    }
    for (std::size_t m = 0; m < running.size(); ++m) running[m].pass(std::move(results[m]));
  }
  std::vector<std::vector<Tensor>> outputs;
  for (const auto& member : running) outputs.push_back(member.outputs());
  return outputs;
}

Tensor part(const Tensor& whole, const Layout& layout, int member) {
  if (layout.is_whole()) return whole;
  Tensor y(compile::partition::part_of(whole.type, layout, member));
  const auto start = layout.bounds[static_cast<std::size_t>(member)];
  walk_part(whole, y, layout.dim, start, [](std::uint64_t from, std::uint64_t& to) { to = from; });
  return y;
}

Tensor join(std::span<const Tensor> parts, const ir::TensorType& type, const Layout& layout) {
  if (layout.is_whole()) {
    for (const auto& one : parts) {
      if (one.type != type || one.bits != parts[0].bits) throw std::logic_error("members differ in a whole value");
    }
    return parts[0];
  }
  std::vector<const Tensor*> pointers;
  for (const auto& one : parts) pointers.push_back(&one);
  return joined(pointers, layout.dim, compile::partition::sizes_of(layout.bounds));
}

namespace {

// Along "model" in each row, then the rows along "data".
Tensor join_mesh(const std::vector<Tensor>& parts, const ir::TensorType& type, const Mesh& mesh,
                 const MeshLayout& layout) {
  std::vector<Tensor> rows;
  for (int d = 0; d < mesh.data; ++d) {
    const auto size = static_cast<std::size_t>(mesh.model);
    const auto row = std::span(parts).subspan(static_cast<std::size_t>(d) * size, size);
    rows.push_back(join(row, part_of(type, layout.data, d), layout.model));
  }
  return join(rows, type, layout.data);
}

}  // namespace

std::vector<Tensor> run_partitioned(const ir::Program& program, const compile::partition::Partitioned& partitioned,
                                    const Mesh& mesh, std::span<const MeshLayout> layouts,
                                    std::span<const Tensor> inputs, const reference::Bindings& bindings) {
  const auto members = partitioned.members.size();
  std::vector<std::vector<Tensor>> parts(members);
  for (std::size_t m = 0; m < members; ++m) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto of_row = part(inputs[i], layouts[i].data, mesh.rank(ir::MeshAxis::data, static_cast<int>(m)));
      parts[m].push_back(part(of_row, layouts[i].model, mesh.rank(ir::MeshAxis::model, static_cast<int>(m))));
    }
  }
  const auto outputs = run_in_lockstep(partitioned.members, mesh, parts, bindings);
  std::vector<Tensor> whole;
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    std::vector<Tensor> of_output;
    for (const auto& of_member : outputs) of_output.push_back(of_member[k]);
    whole.push_back(join_mesh(of_output, program.type_of(program.outputs[k]), mesh, partitioned.outputs[k]));
  }
  return whole;
}

std::vector<Tensor> run_partitioned(const ir::Program& program, const compile::partition::Partitioned& partitioned,
                                    std::span<const Layout> layouts, std::span<const Tensor> inputs,
                                    const reference::Bindings& bindings) {
  const std::vector<MeshLayout> lie(layouts.begin(), layouts.end());
  const Mesh mesh{.data = static_cast<int>(partitioned.members.size())};
  return run_partitioned(program, partitioned, mesh, lie, inputs, bindings);
}

}  // namespace burn::testing
