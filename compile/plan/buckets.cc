#include "compile/plan/buckets.h"

#include <algorithm>
#include <utility>

#include "compile/plan/guards.h"

namespace burn::compile {
namespace {

// The node of a step that is a single one, else null.
const ir::Node* single_of(const ir::Program& program, const PlanStep& step) {
  if (step.group != PlanStep::kSingle || step.product != PlanStep::kNone) return nullptr;
  return &program.nodes[static_cast<std::size_t>(step.node)];
}

const ir::AllReduce* bucketed(const ir::Program& program, const PlanStep& step) {
  const auto* node = single_of(program, step);
  const auto* op = node ? std::get_if<ir::AllReduce>(&node->op) : nullptr;
  return op && op->bucket != 0 ? op : nullptr;
}

class Joiner {
 public:
  Joiner(const ir::Program& program, Plan& plan)
      : program_(program), plan_(plan), is_open_(program.values.size()), is_gone_(plan.steps.size()) {}

  void run() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const auto& step = plan_.steps[s];
      if (std::ranges::any_of(step.reads, [&](ir::Ref ref) { return is_of_open(ref); })) close();
      if (const auto* op = bucketed(program_, step)) {
        if (!open_.empty() && !fits(*op, step)) close();
        open_.push_back(s);
        is_open_[static_cast<std::size_t>(step.results[0].index())] = true;
      } else if (const auto* node = single_of(program_, step); node && node->effect) {
        close();
      }
    }
    close();
    std::size_t kept = 0;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      if (is_gone_[s]) continue;
      if (kept != s) plan_.steps[kept] = std::move(plan_.steps[s]);
      ++kept;
    }
    plan_.steps.resize(kept);
  }

 private:
  bool is_of_open(ir::Ref ref) const { return !ref.is_input() && is_open_[static_cast<std::size_t>(ref.index())]; }

  bool fits(const ir::AllReduce& op, const PlanStep& step) const {
    const auto& first = plan_.steps[open_.front()];
    const auto& other = *bucketed(program_, first);
    return op.bucket == other.bucket && op.group == other.group && op.fn == other.fn &&
           program_.type_of(step.results[0]).dtype == program_.type_of(first.results[0]).dtype;
  }

  // What is open becomes one step, in the place of its last.
  void close() {
    for (const auto s : open_) is_open_[static_cast<std::size_t>(plan_.steps[s].results[0].index())] = false;
    if (open_.size() > 1) {
      PlanStep joined{.node = plan_.steps[open_.front()].node};
      for (const auto s : open_) {
        const auto& step = plan_.steps[s];
        joined.bucket.push_back(step.node);
        joined.reads.push_back(step.reads[0]);
        joined.results.push_back(step.results[0]);
        is_gone_[s] = s != open_.back();
      }
      plan_.steps[open_.back()] = std::move(joined);
    }
    open_.clear();
  }

  const ir::Program& program_;
  Plan& plan_;
  std::vector<std::size_t> open_;  // steps of the bucket that is open
  std::vector<bool> is_open_;      // per value: it is made by one of them
  std::vector<bool> is_gone_;      // per step: it is a part of another one
};

}  // namespace

void join_buckets(const ir::Program& program, Plan& plan) { Joiner(program, plan).run(); }

std::vector<std::int32_t> find_collective_ends(const ir::Program& program, const Plan& plan) {
  const auto count = plan.steps.size();
  std::vector<std::int32_t> ends(count, -1);
  std::vector<std::int32_t> first_read(program.values.size(), static_cast<std::int32_t>(count));
  auto next_commit = static_cast<std::int32_t>(count);
  for (auto s = count; s-- > 0;) {  // what is behind a step is known by then
    const auto& step = plan.steps[s];
    const auto* node = single_of(program, step);
    if (node && ir::is_collective(node->op)) {
      ends[s] = next_commit;
      for (const auto ref : step.results)
        ends[s] = std::min(ends[s], first_read[static_cast<std::size_t>(ref.index())]);
    }
    if (node && is_commit(*node)) next_commit = static_cast<std::int32_t>(s);
    for (const auto ref : step.reads) {
      if (!ref.is_input()) first_read[static_cast<std::size_t>(ref.index())] = static_cast<std::int32_t>(s);
    }
  }
  return ends;
}

}  // namespace burn::compile
