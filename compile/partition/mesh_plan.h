// A plan of a program on a mesh: in which form each node is computed, and each value found, along either axis.
#pragma once

#include <memory>
#include <vector>

#include "compile/partition/choice.h"

namespace burn::compile::partition {

// What becomes of a node. Most are computed once. What is exact and computed from whole values alone can be had in any
// form without communication, and may be computed in several.
struct NodePlan {
  std::vector<Choice> choices;  // none: nothing reads it
  bool is_free = false;
};

struct ValuePlan {
  // In which form readers find it; of what is free: whole, as it can be had in others as well.
  Form form;
  // It is brought into `form` right behind its node, which gives it otherwise.
  bool is_settled = false;
  std::vector<Form> wanted;  // each once
};

struct ProgramPlan {
  std::vector<NodePlan> nodes;
  std::vector<ValuePlan> inputs, values;
  std::vector<Form> outputs;

  const ValuePlan& of(ir::Ref ref) const {
    return (ref.is_input() ? inputs : values)[static_cast<std::size_t>(ref.index())];
  }
  ValuePlan& of(ir::Ref ref) { return (ref.is_input() ? inputs : values)[static_cast<std::size_t>(ref.index())]; }
};

// A plan for each axis of the mesh that has several members; null along one that has not.
struct MeshPlan {
  Mesh mesh;
  std::unique_ptr<const ProgramPlan> data, model;

  const ProgramPlan* along(ir::MeshAxis axis) const { return (axis == ir::MeshAxis::data ? data : model).get(); }
};

}  // namespace burn::compile::partition
