#include "compile/plan/product_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compile/plan/views.h"
#include "compile/rewrite/uses.h"

namespace burn::compile {
namespace {

constexpr int kMaxInstructions = 24;  // of a group per element, roughly

// Functions that take about as many instructions as an addition count 1, others 8.
int instructions_of(ir::PointwiseFn fn) {
  using enum ir::PointwiseFn;
  switch (fn) {
    case exp:
    case expm1:
    case log:
    case log1p:
    case sin:
    case cos:
    case tan:
    case sinh:
    case cosh:
    case tanh:
    case asin:
    case acos:
    case atan:
    case asinh:
    case acosh:
    case atanh:
    case erf:
    case sigmoid:
    case remainder:
    case fmod:
    case pow:
    case atan2:
    case hypot:
      return 8;
    case sqrt:
    case rsqrt:
    case recip:
    case div:
      return 4;
    default:
      return 1;
  }
}

class Joiner {
 public:
  Joiner(const ir::Program& program, std::uint64_t most_bytes, Plan& plan)
      : program_(program),
        most_bytes_(most_bytes),
        plan_(plan),
        views_(find_views(program)),
        uses_(count_uses(program)),
        made_at_(program.values.size(), 0),
        is_gone_(plan.steps.size()) {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const auto ref : plan_.steps[s].results) made_at_[index(ref)] = s;
    }
  }

  void run() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (auto group = elements_of(plan_.steps[s])) join(s, std::move(*group));
    }
    drop_steps(plan_, is_gone_);
  }

 private:
  // The steps between a group and a product that it reads: those of reshapes, from the group back, then the product's.
  using Chain = std::vector<std::size_t>;

  static std::size_t index(ir::Ref ref) { return static_cast<std::size_t>(ref.index()); }

  bool is_single(const PlanStep& step) const {
    return step.group == PlanStep::kSingle && step.product == PlanStep::kNone && step.bucket.empty() &&
           !program_.nodes[static_cast<std::size_t>(step.node)].effect;
  }
  const ir::Op& op_of(const PlanStep& step) const { return program_.nodes[static_cast<std::size_t>(step.node)].op; }

  // The step as a group without rows that a product's kernel may compute; std::nullopt if it is none.
  std::optional<Group> elements_of(const PlanStep& step) const {
    Group group;
    if (step.group != PlanStep::kSingle) {
      group = plan_.groups[static_cast<std::size_t>(step.group)];
    } else {
      if (!is_single(step) ||
          !(std::holds_alternative<ir::Pointwise>(op_of(step)) || std::holds_alternative<ir::Cast>(op_of(step))))
        return std::nullopt;
      group.domain = program_.type_of(step.results[0]).shape;
      group.members = {{step.node, Level::full}};
    }
    if (group.has_rows()) return std::nullopt;
    int instructions = 0;
    for (const auto& member : group.members) {
      const auto* function = std::get_if<ir::Pointwise>(&program_.nodes[static_cast<std::size_t>(member.node)].op);
      if (member.level != Level::full) return std::nullopt;
      instructions += function ? instructions_of(function->fn) : 1;
    }
    return instructions <= kMaxInstructions ? std::optional(std::move(group)) : std::nullopt;
  }

  // The chain if the value is the product of an earlier step, or a reshape of one, and nothing else reads it or the
  // product; otherwise std::nullopt.
  std::optional<Chain> chain_to(ir::Ref value) const {
    Chain chain;
    for (auto ref = value; !ref.is_input() && uses_[index(ref)] == 1;) {
      const auto at = made_at_[index(ref)];
      const auto& step = plan_.steps[at];
      if (is_gone_[at] || !is_single(step)) return std::nullopt;
      chain.push_back(at);
      if (std::holds_alternative<ir::MatMul>(op_of(step))) return chain;
      if (!std::holds_alternative<ir::Reshape>(op_of(step)) || views_[index(ref)].base == ref) return std::nullopt;
      ref = step.reads[0];
    }
    return std::nullopt;
  }

  // Joins the group with the last of the products that it reads in the shape of its domain.
  void join(std::size_t s, Group group) {
    std::optional<Chain> found;
    ir::Ref as_read;
    for (const auto ref : plan_.steps[s].reads) {
      const auto& type = program_.type_of(ref);
      if (type.shape != group.domain || type.num_bytes() > most_bytes_) continue;
      auto chain = chain_to(ref);
      if (!chain || (found && chain->back() < found->back())) continue;
      found = std::move(chain);
      as_read = ref;
    }
    if (!found) return;
    const auto at = found->back();
    std::vector<ir::Ref> reads = plan_.steps[at].reads;
    for (const auto ref : plan_.steps[s].reads) {
      if (ref != as_read && std::ranges::find(reads, ref) == reads.end()) reads.push_back(ref);
    }
    auto number = plan_.steps[s].group;
    if (number == PlanStep::kSingle) {
      number = static_cast<std::int32_t>(plan_.groups.size());
      plan_.groups.push_back(std::move(group));
    }
    ProductWithEpilogue joined{
        .kind = ProductWithEpilogue::Kind::group, .product = plan_.steps[at].node, .other = as_read, .group = number};
    plan_.steps[s] = {.product = static_cast<std::int32_t>(plan_.products.size()),
                      .reads = std::move(reads),
                      .results = std::move(plan_.steps[s].results)};
    plan_.products.push_back(joined);
    for (const auto gone : *found) is_gone_[gone] = true;
  }

  const ir::Program& program_;
  const std::uint64_t most_bytes_;
  Plan& plan_;
  const std::vector<ValueView> views_;
  const std::vector<std::int32_t> uses_;  // per value, outputs counted
  std::vector<std::size_t> made_at_;      // per value: the step
  std::vector<bool> is_gone_;             // per step
};

}  // namespace

void join_product_groups(const ir::Program& program, std::uint64_t most_bytes, Plan& plan) {
  Joiner(program, most_bytes, plan).run();
}

}  // namespace burn::compile
