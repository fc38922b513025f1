#include "compile/partition/sweep.h"

#include <algorithm>

#include "compile/partition/facts.h"
#include "compile/partition/layout_preferences.h"
#include "compile/partition/node_chooser.h"
#include "compile/partition/other_axis.h"
#include "ir/node_errors.h"

namespace burn::compile::partition {
namespace {

// A partial value that is settled late makes its readers change, and with them what they give.
constexpr int kMaxRounds = 8;

std::vector<Layout> layouts_along(std::span<const MeshLayout> inputs, ir::MeshAxis axis) {
  std::vector<Layout> layouts;
  layouts.reserve(inputs.size());
  for (const auto& input : inputs) layouts.push_back(input.along(axis));
  return layouts;
}

// Along one axis of a mesh.
class Sweep {
 public:
  // `other`: the plan along the other axis, if that has been made.
  Sweep(const ir::Program& program, std::span<const MeshLayout> inputs, const Mesh& mesh, ir::MeshAxis axis,
        const ProgramPlan* other)
      : program_(program),
        axis_(axis),
        members_(mesh.size(axis)),
        other_(program, other),
        facts_(program, mesh.model > 1 ? std::optional{axis} : std::nullopt),
        preferences_(program, facts_, layouts_along(inputs, axis), members_),
        settled_(program.values.size()),
        chooser_(program, facts_, preferences_, other_, members_) {
    for (const auto& layout : inputs) plan_.inputs.push_back({Form::of(layout.along(axis)), false, {}});
  }

  Result<ProgramPlan> make(std::span<const std::optional<MeshLayout>> wanted) {
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto output = static_cast<std::size_t>(program_.outputs[k].index());
      auto form = wanted_form(k, wanted).value_or(Form::whole());
      if (!other_.allows(program_.outputs[k], form)) form = Form::whole();
      settled_[output] = std::move(form);
    }
    for (int round = 0; round < kMaxRounds; ++round) {
      is_settling_ = false;
      BURN_RETURN_IF_ERROR(sweep_forward());
      if (!is_settling_) break;
    }
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto output = program_.outputs[k];
      auto form = wanted_form(k, wanted).value_or(plan_.of(output).form);
      const bool is_given = !wanted.empty() && wanted[k];
      if (!is_given && !other_.allows_output(k, form)) form = Form::whole();
      want(output, form);
      plan_.outputs.push_back(std::move(form));
    }
    sweep_backward();
    settle_as_read();
    return std::move(plan_);
  }

 private:
  // How an output is to lie: as is asked for, else as the state does that it replaces. Nothing: as it is computed.
  std::optional<Form> wanted_form(std::size_t k, std::span<const std::optional<MeshLayout>> wanted) const {
    const auto given = wanted.empty() ? std::nullopt : wanted[k];
    if (given) return Form::of(given->along(axis_));
    if (auto fixed = preferences_.fixed(static_cast<std::size_t>(program_.outputs[k].index())))
      return Form::of(*std::move(fixed));
    return std::nullopt;
  }

  NodeForms forms_of(const ir::Node& node) const {
    std::vector<const Form*> forms;
    for (const auto ref : program_.operands_of(node)) forms.push_back(&plan_.of(ref).form);
    return NodeForms(program_, node, std::move(forms), members_);
  }

  Status sweep_forward() {
    plan_.nodes.assign(program_.nodes.size(), {});
    before_ = std::move(plan_.values);
    plan_.values.assign(program_.values.size(), {});
    for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
      const auto& node = program_.nodes[n];
      if (ir::is_collective(node.op))
        return ir::at_node(invalid_argument("is for members of a group, which have programs of their own"), node);
      const auto forms = forms_of(node);
      auto choice = chooser_.choose(n, forms, plan_.nodes[n].is_free, form_read_with(node));
      const auto operands = program_.operands_of(node);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (forms.form(i).is_partial && !choice.operands[i].is_partial) settle(operands[i], choice.operands[i]);
      }
      for (std::uint32_t k = 0; k < node.value_count; ++k) {
        const auto v = node.first_value + k;
        auto& value = plan_.values[v];
        value.form = choice.results[k];
        if (const auto& settled = settled_[v]; value.form.is_partial && settled) {
          value.form = *settled;
          value.is_settled = true;
        } else if (value.form.is_partial && other_.combines_otherwise(n, k, value.form.fn)) {
          value.form = Form::whole();
          value.is_settled = true;
        }
      }
      if (!plan_.nodes[n].is_free) plan_.nodes[n].choices.push_back(std::move(choice));
    }
    return {};
  }

  // The form of what the node's result is read with: as it is in this round, or was in the last; null: not known yet.
  const Form* form_read_with(const ir::Node& node) const {
    const auto& read_with = facts_.read_with[node.first_value];
    if (!read_with) return nullptr;
    const auto i = static_cast<std::size_t>(read_with->index());
    if (read_with->is_input() || i < node.first_value) return &plan_.of(*read_with).form;
    return i < before_.size() ? &before_[i].form : nullptr;
  }

  // A partial value that is read in another form is brought into that form at once: every reader then takes it so, and
  // it is combined once.
  void settle(ir::Ref ref, const Form& form) {
    auto& settled = settled_[static_cast<std::size_t>(ref.index())];
    if (settled && (settled->is_whole() || *settled == form)) return;
    settled = settled || !other_.allows(ref, form) ? Form::whole() : form;  // whole: read in several
    is_settling_ = true;
  }

  void want(ir::Ref ref, const Form& form) {
    auto& wanted = plan_.of(ref).wanted;
    if (std::find(wanted.begin(), wanted.end(), form) == wanted.end()) wanted.push_back(form);
  }

  // What is free is computed as it is read.
  void sweep_backward() {
    for (std::size_t n = program_.nodes.size(); n-- > 0;) {
      const auto& node = program_.nodes[n];
      auto& of_node = plan_.nodes[n];
      if (of_node.is_free) choose_free(n, of_node);
      const auto operands = program_.operands_of(node);
      for (const auto& choice : of_node.choices) {
        for (std::size_t i = 0; i < operands.size(); ++i) want(operands[i], choice.operands[i]);
      }
    }
  }

  void choose_free(std::size_t n, NodePlan& of_node) const {
    const auto& node = program_.nodes[n];
    const bool is_drawn = std::holds_alternative<ir::Random>(node.op) || std::holds_alternative<ir::Scalar>(node.op);
    const auto& wanted = plan_.values[node.first_value].wanted;
    if (wanted.empty() && !is_drawn) return;
    const auto forms = forms_of(node);
    // Drawn once, as each draw takes its turn; what repeats a value is no work in any number of forms.
    if (wanted.size() == 1 || (is_expand(node.op) && !wanted.empty())) {
      for (const auto& form : wanted) {
        auto choice = form.is_split()   ? chooser_.allowed(n, forms.along_result(form.layout))
                      : form.is_whole() ? std::optional{forms.whole()}
                                        : std::nullopt;
        if (!choice) break;
        of_node.choices.push_back(std::move(*choice));
      }
      if (of_node.choices.size() == wanted.size()) return;
      of_node.choices.clear();
    }
    of_node.choices.push_back(forms.whole());
  }

  // What was settled whole, and is read in one split alone by what is free, is settled so.
  void settle_as_read() {
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      auto& value = plan_.values[v];
      if (value.is_settled && value.form.is_whole() && value.wanted.size() == 1 && value.wanted[0].is_split() &&
          other_.allows(ir::Ref::value(static_cast<std::int32_t>(v)), value.wanted[0]))
        value.form = value.wanted[0];
    }
  }

  const ir::Program& program_;
  const ir::MeshAxis axis_;
  const int members_;
  const OtherAxis other_;
  const Facts facts_;
  const LayoutPreferences preferences_;
  std::vector<std::optional<Form>> settled_;
  const NodeChooser chooser_;
  bool is_settling_ = false;
  ProgramPlan plan_;
  std::vector<ValuePlan> before_;  // of the last round
};

}  // namespace

Result<MeshPlan> make_plan(const ir::Program& program, std::span<const MeshLayout> inputs, const Mesh& mesh,
                           std::span<const std::optional<MeshLayout>> wanted) {
  MeshPlan plan{mesh, nullptr, nullptr};
  for (const auto axis : kMeshAxes) {
    if (mesh.size(axis) == 1) continue;
    BURN_TRY(auto along, Sweep(program, inputs, mesh, axis, plan.data.get()).make(wanted));
    (axis == ir::MeshAxis::data ? plan.data : plan.model) = std::make_unique<const ProgramPlan>(std::move(along));
  }
  return plan;
}

}  // namespace burn::compile::partition
