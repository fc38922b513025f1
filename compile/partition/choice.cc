#include "compile/partition/choice.h"

#include <algorithm>

#include "ir/op_copy.h"

namespace burn::compile::partition {
namespace {

std::vector<const ir::TensorType*> types_of(const ir::Program& program, std::span<const ir::Ref> refs) {
  std::vector<const ir::TensorType*> types;
  for (const auto ref : refs) types.push_back(&program.type_of(ref));
  return types;
}

std::vector<const ir::TensorType*> result_types_of(const ir::Program& program, const ir::Node& node) {
  std::vector<const ir::TensorType*> types;
  for (const auto& made : program.results_of(node)) types.push_back(&made.type);
  return types;
}

// Where the op is computed by all members on something that is not combined yet, it should cost them little.
bool is_cheap(const ir::Op& op) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        return std::is_same_v<Kind, ir::Pointwise> || std::is_same_v<Kind, ir::Cast> ||
               std::is_same_v<Kind, ir::Reduce> || std::is_same_v<Kind, ir::Reshape> ||
               std::is_same_v<Kind, ir::Permute> || std::is_same_v<Kind, ir::Slice> ||
               std::is_same_v<Kind, ir::Concat> || std::is_same_v<Kind, ir::Gather>;
      },
      op);
}

}  // namespace

NodeForms::NodeForms(const ir::Program& program, const ir::Node& node, std::vector<const Form*> operands, int members)
    : node_(node),
      types_(types_of(program, program.operands_of(node))),
      result_types_(result_types_of(program, node)),
      forms_(std::move(operands)),
      factors_(ir::factors(node.op, types_, result_types_)),
      members_(members) {}

bool NodeForms::has_split() const {
  return std::any_of(forms_.begin(), forms_.end(), [](const Form* form) { return form->is_split(); });
}

bool NodeForms::has_partial() const {
  return std::any_of(forms_.begin(), forms_.end(), [](const Form* form) { return form->is_partial; });
}

void NodeForms::add_bytes(Choice& choice) const {
  for (std::size_t i = 0; i < forms_.size(); ++i)
    choice.bytes += conversion_bytes(*types_[i], *forms_[i], choice.operands[i], members_);
}

Choice NodeForms::whole() const {
  Choice choice{std::vector<Form>(types_.size()), std::vector<Form>(result_types_.size())};
  add_bytes(choice);
  return choice;
}

Choice NodeForms::alone() const {
  auto choice = whole();
  choice.is_alone = true;
  for (std::size_t k = 0; k < result_types_.size(); ++k)
    choice.results[k] = Form::partial(ir::is_bool(result_types_[k]->dtype) ? ir::ReduceFn::max : ir::ReduceFn::sum);
  return choice;
}

namespace {

// Whether a factor is the outermost one of its dim; and the product of the others.
template <typename DimOf>
std::optional<std::int64_t> inner_size(const ir::Factors& factors, std::size_t factor, const DimOf& dim_of) {
  const int dim = dim_of(factor);
  std::int64_t inner = 1;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (f == factor || dim_of(f) != dim) continue;
    if (f < factor) return std::nullopt;
    inner *= factors[f].size;
  }
  return inner;
}

// Of a factor, those of a dim that it is the outermost of.
template <typename DimOf>
std::optional<Form> form_along(const ir::Factors& factors, std::size_t factor, const Bounds& bounds,
                               const DimOf& dim_of) {
  const auto inner = inner_size(factors, factor, dim_of);
  if (!inner) return std::nullopt;
  auto scaled = bounds;
  for (auto& bound : scaled) bound *= *inner;
  return Form::split(dim_of(factor), std::move(scaled));
}

struct FactorSplit {
  std::size_t factor;
  Bounds bounds;
};

// The outermost factor of a dim, and what a split of the dim is for it.
template <typename DimOf>
std::optional<FactorSplit> factor_of(const ir::Factors& factors, const Layout& split, const DimOf& dim_of) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (dim_of(f) != split.dim) continue;
    const auto inner = inner_size(factors, f, dim_of).value_or(0);
    auto bounds = split.bounds;
    for (auto& bound : bounds) {
      if (inner == 0 || bound % inner != 0) return std::nullopt;
      bound /= inner;
    }
    return FactorSplit{f, std::move(bounds)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Choice> NodeForms::along(std::size_t factor, const Bounds& bounds) const {
  const auto kind = factors_[factor].kind;
  if (kind == ir::FactorKind::whole) return std::nullopt;
  Choice choice{std::vector<Form>(types_.size()), std::vector<Form>(result_types_.size())};
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (factors_.operand_dim(factor, i) >= 0) {
      auto form = form_along(factors_, factor, bounds, [&](std::size_t f) { return factors_.operand_dim(f, i); });
      if (!form) return std::nullopt;
      choice.operands[i] = std::move(*form);
    } else if (ir::combines(kind) && (factors_.added >> i & 1) != 0) {
      choice.operands[i] = Form::partial(ir::combining_fn(kind));
    }
  }
  choice.is_wide = ir::combines(kind) && std::holds_alternative<ir::Reduce>(node_.op) &&
                   ir::compute_dtype(result_types_[0]->dtype) != result_types_[0]->dtype;
  for (std::size_t k = 0; k < result_types_.size() && !choice.is_wide; ++k) {
    if (ir::combines(kind)) {
      choice.results[k] = Form::partial(ir::combining_fn(kind));
      continue;
    }
    if (factors_.result_dim(factor, k) < 0) return std::nullopt;
    auto form = form_along(factors_, factor, bounds, [&](std::size_t f) { return factors_.result_dim(f, k); });
    if (!form) return std::nullopt;
    choice.results[k] = std::move(*form);
  }
  if (!takes_empty_parts(choice, bounds)) return std::nullopt;
  add_bytes(choice);
  return choice;
}

bool NodeForms::takes_empty_parts(const Choice& choice, const Bounds& bounds) const {
  for (int member = 0; member < members_; ++member) {
    const auto m = static_cast<std::size_t>(member);
    if (bounds[m + 1] > bounds[m]) continue;
    std::vector<ir::TensorType> parts;
    for (std::size_t i = 0; i < types_.size(); ++i)
      parts.push_back(part_of(*types_[i], choice.operands[i].layout, member));
    const auto result = part_of(*result_types_[0], choice.results[0].layout, member);
    if (!parts.empty() && chooses_from_nothing(node_.op, parts[0])) continue;
    std::vector<const ir::TensorType*> pointers;
    for (const auto& part : parts) pointers.push_back(&part);
    const auto inferred = ir::infer(op_of_member(node_.op, result, choice.results[0], member), pointers);
    return inferred.ok() && (*inferred)[0] == result;  // one empty part is as another
  }
  return true;
}

std::optional<Choice> NodeForms::along_operand(std::size_t operand, const Layout& split) const {
  const auto found = factor_of(factors_, split, [&](std::size_t f) { return factors_.operand_dim(f, operand); });
  return found ? along(found->factor, found->bounds) : std::nullopt;
}

std::optional<Choice> NodeForms::along_result(const Layout& split) const {
  const auto found = factor_of(factors_, split, [&](std::size_t f) { return factors_.result_dim(f, 0); });
  return found ? along(found->factor, found->bounds) : std::nullopt;
}

std::optional<Choice> NodeForms::linear(const std::vector<bool>& is_zero) const {
  if (!is_cheap(node_.op)) return std::nullopt;
  const auto first = std::find_if(forms_.begin(), forms_.end(), [](const Form* form) { return form->is_partial; });
  const auto fn = (*first)->fn;
  std::size_t before = 0, after = 0;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (forms_[i]->is_split()) return std::nullopt;
    if (!forms_[i]->is_partial) continue;
    if (forms_[i]->fn != fn) return std::nullopt;
    before += types_[i]->num_bytes();
  }
  for (const auto* type : result_types_) after += type->num_bytes();
  if (after > before) return std::nullopt;
  for (const auto& set : factors_.linear) {
    bool fits = set.allows(fn);
    for (std::size_t i = 0; i < types_.size() && fits; ++i)
      fits = set.has(i) ? forms_[i]->is_partial || (is_zero[i] && fn == ir::ReduceFn::sum) : !forms_[i]->is_partial;
    if (!fits) continue;
    auto choice = whole();
    choice.bytes = 0;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (set.has(i)) choice.operands[i] = Form::partial(fn);
    }
    for (auto& form : choice.results) form = Form::partial(fn);
    return choice;
  }
  return std::nullopt;
}

bool chooses_from_nothing(const ir::Op& op, const ir::TensorType& operand) {
  const auto* reduce = std::get_if<ir::Reduce>(&op);
  if (!reduce || ir::is_bool(operand.dtype)) return false;
  if (reduce->fn != ir::ReduceFn::max && reduce->fn != ir::ReduceFn::min) return false;
  return std::any_of(reduce->axes.begin(), reduce->axes.end(),
                     [&](std::int64_t axis) { return operand.shape[static_cast<int>(axis)] == 0; });
}

ir::Op op_of_member(const ir::Op& op, const ir::TensorType& result, const Form& form, int member) {
  auto changed = ir::copy_of(op);
  if (!form.is_split()) return changed;
  if (auto* reshape = std::get_if<ir::Reshape>(&changed)) reshape->shape = result.shape;
  if (auto* expand = std::get_if<ir::Expand>(&changed)) expand->shape = result.shape;
  if (auto* slice = std::get_if<ir::Slice>(&changed)) slice->sizes = result.shape;
  if (auto* random = std::get_if<ir::Random>(&changed)) {
    if (random->starts.empty()) {
      random->whole = random->shape;
      random->starts = ir::Dims::filled(random->shape.rank(), 0);
    }
    random->shape = result.shape;
    random->starts[form.layout.dim] += form.layout.bounds[static_cast<std::size_t>(member)];
  }
  return changed;
}

}  // namespace burn::compile::partition
