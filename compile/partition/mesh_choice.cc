#include "compile/partition/mesh_choice.h"

#include <algorithm>

namespace burn::compile::partition {

bool splits_distinct_dims(const MeshForm& form) {
  return !form.data->is_split() || !form.model->is_split() || form.data->layout.dim != form.model->layout.dim;
}

MeshForm MeshChoice::operand(std::size_t i) const {
  return {data ? &data->operands[i] : &kWholeForm, model ? &model->operands[i] : &kWholeForm};
}

MeshForm MeshChoice::result(std::size_t k) const {
  return {data ? &data->results[k] : &kWholeForm, model ? &model->results[k] : &kWholeForm};
}

bool MeshChoice::splits_distinct_dims() const {
  const auto& one = data ? *data : *model;
  for (std::size_t i = 0; i < one.operands.size(); ++i) {
    if (!partition::splits_distinct_dims(operand(i))) return false;
  }
  for (std::size_t k = 0; k < one.results.size(); ++k) {
    if (!partition::splits_distinct_dims(result(k))) return false;
  }
  return true;
}

MeshForm form_of_input(const MeshPlan& plan, std::size_t i) {
  return {plan.data ? &plan.data->inputs[i].form : &kWholeForm, plan.model ? &plan.model->inputs[i].form : &kWholeForm};
}

MeshForm form_of_output(const MeshPlan& plan, std::size_t k) {
  return {plan.data ? &plan.data->outputs[k] : &kWholeForm, plan.model ? &plan.model->outputs[k] : &kWholeForm};
}

WantedForms::WantedForms(const ir::Program& program, const MeshPlan& plan)
    : inputs(program.inputs.size()), values(program.values.size()) {
  const auto want = [&](ir::Ref ref, const MeshForm& form) {
    auto& forms = (ref.is_input() ? inputs : values)[static_cast<std::size_t>(ref.index())];
    if (std::ranges::find(forms, form) == forms.end()) forms.push_back(form);
  };
  for (std::size_t k = 0; k < program.outputs.size(); ++k) want(program.outputs[k], form_of_output(plan, k));
  for (std::size_t n = program.nodes.size(); n-- > 0;) {
    const auto operands = program.operands_of(program.nodes[n]);
    for_each_choice(plan, n, [&](const MeshChoice& choice) {
      for (std::size_t i = 0; i < operands.size(); ++i) want(operands[i], choice.operand(i));
    });
  }
}

}  // namespace burn::compile::partition
