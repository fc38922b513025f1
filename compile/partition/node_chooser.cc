#include "compile/partition/node_chooser.h"

#include <utility>
#include <vector>

#include "compile/partition/exact.h"

namespace burn::compile::partition {
namespace {

// Operands whose splits are considered. Of a Concat of many, most are split alike.
constexpr int kMaxExamined = 16;

}  // namespace

std::optional<Choice> NodeChooser::allowed(std::size_t n, std::optional<Choice> choice) const {
  return choice && other_.allows(n, *choice) ? std::move(choice) : std::nullopt;
}

std::optional<Choice> NodeChooser::as_hinted(const ir::Node& node, const NodeForms& forms) const {
  const auto operands = program_.operands_of(node);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!forms.form(i).is_partial || operands[i].is_input()) continue;
    const auto& hint = preferences_.hint(static_cast<std::size_t>(operands[i].index()));
    if (hint && !hint->is_whole()) return forms.along_operand(i, *hint);
  }
  return std::nullopt;
}

Choice NodeChooser::choose(std::size_t n, const NodeForms& forms, bool& is_free, const Form* read_with) const {
  const auto& node = program_.nodes[n];
  if (is_by_element(node.op)) {
    const auto fixed = preferences_.fixed(node.first_value);
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
  if (is_expand(node.op) && forms.has_split() && reads_other_split(forms, read_with)) {
    is_free = true;
    return forms.whole();
  }
  return cheapest(n, forms, exact);
}

// Whether what repeats a split value will be read beside a value that is split otherwise: the small one is gathered
// then, not what it is repeated to.
bool NodeChooser::reads_other_split(const NodeForms& forms, const Form* read_with) {
  const auto kept = forms.along_operand(0, forms.form(0).layout);
  return kept && read_with && read_with->is_split() && *read_with != kept->results[0];
}

// What this choice sends in the end. Results that are partial may be combined later or smaller, but where that is not
// what operands lie for, all of it counts.
double NodeChooser::cost(const NodeForms& forms, const Choice& choice) const {
  if (!combines(choice) || choice.bytes == 0) return choice.bytes;
  return choice.bytes + conversion_bytes(forms.result_type(0), Form::partial(ir::ReduceFn::sum), {}, members_);
}

// Of the splits that operands have already, and, where these do not serve, of others. The first of equals.
Choice NodeChooser::cheapest(std::size_t n, const NodeForms& forms, bool exact) const {
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
        consider(allowed(n, forms.along(f, preferences_.bounds_for(factor.size))));
    }
  }
  if (!exact && !best) consider(forms.alone());
  return std::move(*best);
}

}  // namespace burn::compile::partition
