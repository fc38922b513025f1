#include "compile/plan/plan.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/settings.h"
#include "compile/fusion/fuse.h"
#include "compile/plan/buckets.h"
#include "compile/plan/gemm_epilogues.h"
#include "compile/plan/product_groups.h"

namespace burn::compile {
namespace {

class Planner {
 public:
  Planner(const ir::Program& program, std::vector<Group> groups)
      : program_(program), step_of_(program.nodes.size(), kNone) {
    plan_.groups = std::move(groups);
  }

  Plan run(const PlanOptions& options) {
    make_steps();
    order_steps();
    if (options.buckets) join_buckets(program_, plan_);
    if (options.fusion && options.epilogues) join_products(program_, plan_);
    if (options.fusion && options.product_group_bytes > 0)
      join_product_groups(program_, options.product_group_bytes, plan_);
    find_last_uses();
    plan_.tf32 = options.tf32;
    return std::move(plan_);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  std::int32_t& step_of(std::int32_t n) { return step_of_[static_cast<std::size_t>(n)]; }

  // Makes a step of each group, then of each node outside of groups. Afterwards `step_of_` is the step that computes a
  // node's values.
  void make_steps() {
    for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
      for (const auto& member : plan_.groups[g].members) step_of(member.node) = static_cast<std::int32_t>(g);
      plan_.steps.push_back({.group = static_cast<std::int32_t>(g)});
      last_node_.push_back(plan_.groups[g].members.back().node);
    }
    const auto used_outside = values_used_outside();
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) {
      const auto group = step_of(n);
      const bool is_view = std::holds_alternative<ir::Expand>(node(n).op);
      const auto first = static_cast<std::int32_t>(node(n).first_value);
      const bool is_needed = used_outside[static_cast<std::size_t>(first)];  // of a member, which has one result
      if (group == kNone || (is_view && is_needed)) {
        // Readers outside of the group read an expanded row as a view, so the Expand gets a step of its own.
        step_of(n) = static_cast<std::int32_t>(plan_.steps.size());
        const auto operands = program_.operands_of(node(n));
        std::vector<ir::Ref> results;
        for (std::uint32_t k = 0; k < node(n).value_count; ++k)
          results.push_back(ir::Ref::value(first).result(static_cast<int>(k)));
        plan_.steps.push_back({.node = n, .reads = {operands.begin(), operands.end()}, .results = std::move(results)});
        last_node_.push_back(n);
      } else if (is_needed) {
        plan_.steps[static_cast<std::size_t>(group)].results.push_back(ir::Ref::value(first));
      }
    }
    find_reads();
  }

  // Finds the values that groups read from outside, each once, in the order of their members.
  void find_reads() {
    std::vector<std::int32_t> group_of(program_.nodes.size(), kNone);
    std::vector<std::int32_t> last_read(program_.inputs.size() + program_.values.size(), kNone);  // by which group
    for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
      const auto group = static_cast<std::int32_t>(g);
      const auto& members = plan_.groups[g].members;
      for (const auto& member : members) group_of[static_cast<std::size_t>(member.node)] = group;
      for (const auto& member : members) {
        for (const auto ref : program_.operands_of(node(member.node))) {
          if (!ref.is_input() && group_of[static_cast<std::size_t>(program_.node_of(ref))] == group) continue;
          const auto index = static_cast<std::size_t>(ref.index());
          auto& last = last_read[ref.is_input() ? index : program_.inputs.size() + index];
          if (std::exchange(last, group) != group) plan_.steps[g].reads.push_back(ref);
        }
      }
    }
  }

  // Per value: whether it is an output or is read by a node outside of its group. An Expand in a group counts as
  // outside of it if it is itself used outside.
  std::vector<bool> values_used_outside() {
    std::vector<bool> used(program_.values.size());
    const auto mark = [&](ir::Ref ref) {
      if (!ref.is_input()) used[static_cast<std::size_t>(ref.index())] = true;
    };
    std::ranges::for_each(program_.outputs, mark);
    for (auto n = static_cast<std::int32_t>(program_.nodes.size()); n-- > 0;) {
      const auto own = step_of(n);
      const bool is_copied_view = std::holds_alternative<ir::Expand>(node(n).op) && used[node(n).first_value];
      for (const auto ref : program_.operands_of(node(n))) {
        if (!ref.is_input() && (own == kNone || is_copied_view || step_of(program_.node_of(ref)) != own)) mark(ref);
      }
    }
    return used;
  }

  // Orders steps: each after the steps that compute what it reads, steps with an effect in sequence, and a Commit after
  // all earlier steps that may fail; otherwise in the program's order.
  void order_steps() {
    const auto count = plan_.steps.size();
    std::vector<std::vector<std::int32_t>> readers(count);
    std::vector<std::int32_t> waits_for(count);
    const auto follows = [&](std::int32_t before, std::size_t s) {
      readers[static_cast<std::size_t>(before)].push_back(static_cast<std::int32_t>(s));
      ++waits_for[s];
    };
    for (std::size_t s = 0; s < count; ++s) {
      for (const auto ref : plan_.steps[s].reads) {
        if (!ref.is_input()) follows(step_of(program_.node_of(ref)), s);
      }
    }
    std::int32_t last_effect = kNone;
    std::vector<std::int32_t> checks;  // steps that may fail, since the last Commit
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) {
      if (ir::may_fail(node(n).op)) checks.push_back(step_of(n));
      if (!node(n).effect) continue;
      const auto step = static_cast<std::size_t>(step_of(n));
      if (last_effect != kNone) follows(step_of(last_effect), step);
      last_effect = n;
      if (!std::holds_alternative<ir::Commit>(node(n).op)) continue;
      for (const auto check : checks) follows(check, step);
      checks.clear();
    }
    hurry_collectives();
    const auto is_later = [&](std::int32_t a, std::int32_t b) {
      return last_node_[static_cast<std::size_t>(a)] > last_node_[static_cast<std::size_t>(b)];
    };
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(is_later)> ready(is_later);
    for (std::size_t s = 0; s < count; ++s) {
      if (waits_for[s] == 0) ready.push(static_cast<std::int32_t>(s));
    }
    std::vector<PlanStep> ordered;
    ordered.reserve(count);
    while (!ready.empty()) {
      const auto s = static_cast<std::size_t>(ready.top());
      ready.pop();
      for (const auto reader : readers[s]) {
        if (--waits_for[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
      }
      ordered.push_back(std::move(plan_.steps[s]));
    }
    BURN_CHECK(ordered.size() == count, "a plan's groups depend on each other in a circle");
    plan_.steps = std::move(ordered);
  }

  // A collective is ordered as early as the step that computes its operand, because it runs while other steps execute.
  void hurry_collectives() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const auto& step = plan_.steps[s];
      if (step.group != PlanStep::kSingle || !ir::is_collective(node(step.node).op)) continue;
      last_node_[s] = kNone;
      for (const auto ref : step.reads) {
        if (!ref.is_input())
          last_node_[s] = std::max(last_node_[s], last_node_[static_cast<std::size_t>(step_of(program_.node_of(ref)))]);
      }
    }
  }

  void find_last_uses() {
    plan_.value_last_use.assign(program_.values.size(), Plan::kUnused);
    plan_.input_last_use.assign(program_.inputs.size(), Plan::kUnused);
    const auto last_use = [&](ir::Ref ref) -> std::int32_t& {
      auto& uses = ref.is_input() ? plan_.input_last_use : plan_.value_last_use;
      return uses[static_cast<std::size_t>(ref.index())];
    };
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      for (const auto ref : plan_.steps[s].reads) last_use(ref) = static_cast<std::int32_t>(s);
    }
    for (const auto ref : program_.outputs) last_use(ref) = Plan::kOutput;
  }

  const ir::Program& program_;
  Plan plan_;
  std::vector<std::int32_t> step_of_;    // per node: the step whose results its values are for other steps
  std::vector<std::int32_t> last_node_;  // per step
};

}  // namespace

PlanOptions PlanOptions::from_environment() {
  return {.fusion = !is_off(Setting::fusion),
          .merge_equal = !is_off(Setting::cse),
          .recompute = !is_off(Setting::recompute),
          .tf32 = is_on(Setting::tf32),
          .limits = {},
          .recompute_bytes = PlanOptions{}.recompute_bytes};
}

Plan make_plan(const ir::Program& program, const PlanOptions& options) {
  return Planner(program, options.fusion ? find_groups(program, options.limits) : std::vector<Group>{}).run(options);
}

void drop_steps(Plan& plan, const std::vector<bool>& is_gone) {
  std::size_t kept = 0;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (is_gone[s]) continue;
    if (kept != s) plan.steps[kept] = std::move(plan.steps[s]);
    ++kept;
  }
  plan.steps.resize(kept);
}

std::size_t memory_bytes(const Plan& plan) {
  auto bytes = sizeof plan + (plan.value_last_use.capacity() + plan.input_last_use.capacity()) * sizeof(std::int32_t);
  for (const auto& group : plan.groups) bytes += sizeof group + group.members.capacity() * sizeof(Member);
  bytes += plan.products.capacity() * sizeof(ProductWithEpilogue);
  for (const auto& step : plan.steps) {
    bytes += sizeof step + step.reads.capacity() * sizeof(ir::Ref) + step.results.capacity() * sizeof(ir::Ref) +
             step.bucket.capacity() * sizeof(std::int32_t);
  }
  return bytes;
}

std::string to_string(const Plan& plan, const ir::Program& program) {
  const auto value = [&](ir::Ref ref) { return fmt::format("{}{}", ref.is_input() ? "in" : "%", ref.index()); };
  std::string text =
      fmt::format("plan {}: {} nodes in {} steps\n", to_string(program.hash), program.nodes.size(), plan.steps.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& step = plan.steps[s];
    std::string what, reads, results;
    const auto members_of = [&](const Group& group) {
      std::string members;
      for (const auto& member : group.members)
        members += fmt::format("{}{}", members.empty() ? "" : " ",
                               ir::name(program.nodes[static_cast<std::size_t>(member.node)].op));
      return members;
    };
    if (step.product != PlanStep::kNone) {
      const auto& product = plan.products[static_cast<std::size_t>(step.product)];
      what = to_string(product, program);
      if (product.group >= 0) what += members_of(plan.groups[static_cast<std::size_t>(product.group)]);
    } else if (step.group == PlanStep::kSingle) {
      what = to_string(program.nodes[static_cast<std::size_t>(step.node)].op);
      if (!step.bucket.empty()) what = fmt::format("{} together: {}", step.bucket.size(), what);
    } else {
      const auto& group = plan.groups[static_cast<std::size_t>(step.group)];
      what = fmt::format("fused over {}{} {{{}}}", to_string(group.domain),
                         group.has_rows() ? fmt::format(" in rows of {}", group.row_size) : "", members_of(group));
    }
    for (const auto ref : step.reads) reads += (reads.empty() ? "" : ", ") + value(ref);
    for (const auto ref : step.results)
      results += fmt::format("{}{} : {}", results.empty() ? "" : ", ", value(ref), to_string(program.type_of(ref)));
    text += fmt::format("  {}: {} = {} {}\n", s, results, what, reads);
  }
  return text;
}

}  // namespace burn::compile
