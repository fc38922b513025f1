#include "compile/partition/sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "compile/partition/exact.h"
#include "compile/partition/facts.h"
#include "compile/partition/other_axis.h"
#include "ir/node_errors.h"

namespace burn::compile::partition {
namespace {

// A partial value that is settled late makes its readers change, and with them what they give.
constexpr int kMaxRounds = 8;

// Operands whose splits are considered. Of a Concat of many, most are split alike.
constexpr int kMaxExamined = 16;

bool is_by_element(const ir::Op& op) {
  return std::holds_alternative<ir::Pointwise>(op) || std::holds_alternative<ir::Cast>(op) ||
         std::holds_alternative<ir::Place>(op);
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
        settled_(program.values.size()) {
    for (const auto& layout : inputs) plan_.inputs.push_back({Form::of(layout.along(axis)), false, {}});
    find_hints();
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
    if (auto fixed = fixed_layout(static_cast<std::size_t>(program_.outputs[k].index())))
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
      auto choice = choose(n, forms, plan_.nodes[n].is_free);
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

  // A partial value that is read in another form is brought into that form at once: every reader then takes it so, and
  // it is combined once.
  void settle(ir::Ref ref, const Form& form) {
    auto& settled = settled_[static_cast<std::size_t>(ref.index())];
    if (settled && (settled->is_whole() || *settled == form)) return;
    settled = settled || !other_.allows(ref, form) ? Form::whole() : form;  // whole: read in several
    is_settling_ = true;
  }

  // How a value lies for its own sake: as a Place says, else as the input that it stands for, and state that is new
  // whole. Nothing: it may lie in any way.
  std::optional<Layout> fixed_layout(std::size_t value) const {
    const auto stands = facts_.stands[value];
    const auto* input = stands >= 0 ? &plan_.inputs[static_cast<std::size_t>(stands)].form.layout : nullptr;
    const auto axis = facts_.placed[value];
    if (axis < 0) return input ? std::optional{*input} : stands == Facts::kNew ? std::optional{Layout{}} : std::nullopt;
    if (input && input->dim == axis) return *input;
    return Layout::split(axis, bounds_for(program_.values[value].type.shape[axis]));
  }

  // What state is computed from element by element had best lie as that state does: sums over members then end in a
  // part for each, where they would else end in all of it everywhere.
  void find_hints() {
    hints_.resize(program_.values.size());
    for (std::size_t n = program_.nodes.size(); n-- > 0;) {
      const auto& node = program_.nodes[n];
      if (!is_by_element(node.op)) continue;
      auto& hint = hints_[node.first_value];
      if (auto fixed = fixed_layout(node.first_value)) hint = std::move(fixed);
      if (!hint || hint->is_whole()) continue;
      for (const auto ref : program_.operands_of(node)) {
        if (ref.is_input() || program_.type_of(ref).shape != program_.type_of(node).shape) continue;
        if (auto& of_operand = hints_[static_cast<std::size_t>(ref.index())]; !of_operand) of_operand = hint;
      }
    }
  }

  // A choice that the other axis leaves.
  std::optional<Choice> allowed(std::size_t n, std::optional<Choice> choice) const {
    return choice && other_.allows(n, *choice) ? std::move(choice) : std::nullopt;
  }

  std::optional<Choice> as_hinted(const ir::Node& node, const NodeForms& forms) const {
    const auto operands = program_.operands_of(node);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!forms.form(i).is_partial || operands[i].is_input()) continue;
      const auto& hint = hints_[static_cast<std::size_t>(operands[i].index())];
      if (hint && !hint->is_whole()) return forms.along_operand(i, *hint);
    }
    return std::nullopt;
  }

  Choice choose(std::size_t n, const NodeForms& forms, bool& is_free) const {
    const auto& node = program_.nodes[n];
    if (is_by_element(node.op)) {
      const auto fixed = fixed_layout(node.first_value);
      if (auto kept = !fixed              ? std::nullopt
                      : fixed->is_whole() ? std::optional{forms.whole()}
                                          : allowed(n, forms.along_result(*fixed)))
        return std::move(*kept);
    }
    const bool is_moved = forms.has_split() || forms.has_partial();
    const bool exact = is_exact(node.op, forms.result_type(0));
    if (!is_moved && exact) {
      is_free = node.value_count == 1 && !node.effect && !ir::may_fail(node.op);
      return forms.whole();
    }
    if (forms.has_partial()) {
      std::vector<bool> zeros;
      for (const auto ref : program_.operands_of(node))
        zeros.push_back(!ref.is_input() && facts_.is_zero[static_cast<std::size_t>(ref.index())]);
      if (auto choice = forms.linear(zeros)) return std::move(*choice);
      if (exact && !forms.has_split()) {
        if (auto choice = allowed(n, as_hinted(node, forms))) return std::move(*choice);
      }
    }
    if (is_expand(node.op) && forms.has_split() && reads_other_split(node, forms)) {
      is_free = true;
      return forms.whole();
    }
    return cheapest(n, forms, exact);
  }

  // Whether what repeats a split value will be read beside a value that is split otherwise: the small one is gathered
  // then, not what it is repeated to.
  bool reads_other_split(const ir::Node& node, const NodeForms& forms) const {
    const auto& beside = facts_.beside[node.first_value];
    const auto kept = forms.along_operand(0, forms.form(0).layout);
    if (!beside || !kept) return false;
    const auto i = static_cast<std::size_t>(beside->index());
    const bool is_known = beside->is_input() || i < node.first_value || i < before_.size();
    if (!is_known) return false;
    const auto& other = beside->is_input() || i < node.first_value ? plan_.of(*beside).form : before_[i].form;
    return other.is_split() && other != kept->results[0];
  }

  // What this choice sends in the end. Results that are partial may be combined later or smaller, but where that is not
  // what operands lie for, all of it counts.
  double cost(const NodeForms& forms, const Choice& choice) const {
    if (!combines(choice) || choice.bytes == 0) return choice.bytes;
    return choice.bytes + conversion_bytes(forms.result_type(0), Form::partial(ir::ReduceFn::sum), {}, members_);
  }

  // Of the splits that operands have already, and, where these do not serve, of others. The first of equals.
  Choice cheapest(std::size_t n, const NodeForms& forms, bool exact) const {
    std::optional<Choice> best;
    const auto consider = [&](std::optional<Choice> choice) {
      if (choice && (!best || cost(forms, *choice) < cost(forms, *best))) best = std::move(choice);
    };
    std::optional<Choice> sums;  // whose results have yet to be combined
    int examined = 0;
    for (std::size_t i = 0; i < forms.operand_count() && examined < kMaxExamined; ++i) {
      if (!forms.form(i).is_split()) continue;
      ++examined;
      auto choice = allowed(n, forms.along_operand(i, forms.form(i).layout));
      if (choice && !combines(*choice))
        consider(std::move(choice));
      else if (choice && (!sums || choice->bytes < sums->bytes))
        sums = std::move(choice);
    }
    consider(std::move(sums));
    if (exact) consider(forms.whole());
    if (best && (best->bytes == 0 || !forms.has_split())) return std::move(*best);
    for (const bool last : {false, true}) {
      for (std::size_t f = 0; f < forms.factors().size(); ++f) {
        const auto& factor = forms.factors()[f];
        if (ir::combines(factor.kind) == last && factor.size >= members_)
          consider(allowed(n, forms.along(f, bounds_for(factor.size))));
      }
    }
    if (!exact && !best) consider(forms.alone());
    return std::move(*best);
  }

  // As an input is split along a dim of that size, if one is.
  Bounds bounds_for(std::int64_t size) const {
    for (const auto& input : plan_.inputs) {
      if (input.form.is_split() && input.form.layout.bounds.back() == size) return input.form.layout.bounds;
    }
    return balanced(size, members_);
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
        auto choice = form.is_split()   ? allowed(n, forms.along_result(form.layout))
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
  std::vector<std::optional<Form>> settled_;
  std::vector<std::optional<Layout>> hints_;  // of values
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
