// What the plans along both axes of a mesh say together: in which form a value is, how a node is computed, and in which
// forms each value is read.
#pragma once

#include <vector>

#include "compile/partition/mesh_plan.h"

namespace burn::compile::partition {

inline const Form kWholeForm;  // there for good

// A form along each axis of a mesh, of those that a plan has, or that are there for good.
struct MeshForm {
  const Form* data;
  const Form* model;

  const Form& along(ir::MeshAxis axis) const { return axis == ir::MeshAxis::data ? *data : *model; }
  MeshForm with(ir::MeshAxis axis, const Form& form) const {
    return axis == ir::MeshAxis::data ? MeshForm{&form, model} : MeshForm{data, &form};
  }
  friend bool operator==(const MeshForm& a, const MeshForm& b) {
    return (a.data == b.data || *a.data == *b.data) && (a.model == b.model || *a.model == *b.model);
  }
};

// Whether the axes split different dims, if both split one.
bool splits_distinct_dims(const MeshForm& form);

// How a node is computed along each axis; null along one that has one member.
struct MeshChoice {
  const Choice* data;
  const Choice* model;

  const Choice* along(ir::MeshAxis axis) const { return axis == ir::MeshAxis::data ? data : model; }
  MeshForm operand(std::size_t i) const;
  MeshForm result(std::size_t k) const;
  bool splits_distinct_dims() const;  // in all operands and results
  bool is_wide() const { return (data && data->is_wide) || (model && model->is_wide); }
};

// Of a program's input or output; whole along an axis of one member.
MeshForm form_of_input(const MeshPlan& plan, std::size_t i);
MeshForm form_of_output(const MeshPlan& plan, std::size_t k);

// Calls each(choice) for the ways of both axes that go together. Requires: each axis has plans of all nodes.
template <typename Each>
void for_each_choice(const MeshPlan& plan, std::size_t node, const Each& each) {
  const auto along = [&](const ProgramPlan* axis, const auto& visit) {
    if (!axis) return visit(nullptr);
    for (const auto& choice : axis->nodes[node].choices) visit(&choice);
  };
  along(plan.data.get(), [&](const Choice* data) {
    along(plan.model.get(), [&](const Choice* model) {
      const MeshChoice choice{data, model};
      if (choice.splits_distinct_dims()) each(choice);
    });
  });
}

// In which forms each value is read, by nodes or as an output; each form once.
struct WantedForms {
  WantedForms(const ir::Program& program, const MeshPlan& plan);

  const std::vector<MeshForm>& of(ir::Ref ref) const {
    return (ref.is_input() ? inputs : values)[static_cast<std::size_t>(ref.index())];
  }

  std::vector<std::vector<MeshForm>> inputs, values;
};

}  // namespace burn::compile::partition
