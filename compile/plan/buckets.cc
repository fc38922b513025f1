#include "compile/plan/buckets.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compile/plan/guards.h"

namespace burn::compile {
namespace {

// The node of a step that is a single node; null for other steps.
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
      : program_(program), plan_(plan), bucket_of_(program.values.size()), is_gone_(plan.steps.size()) {}

  void run() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const auto& step = plan_.steps[s];
      for (const auto ref : step.reads) {
        if (!ref.is_input() && of(ref) != 0) close(of(ref));
      }
      if (const auto* op = bucketed(program_, step)) {
        add(s, *op);
      } else if (const auto* node = single_of(program_, step); node && node->effect) {
        close_all();
      }
    }
    close_all();
    drop_steps(plan_, is_gone_);
  }

 private:
  using Steps = std::vector<std::size_t>;

  std::int64_t& of(ir::Ref ref) { return bucket_of_[static_cast<std::size_t>(ref.index())]; }
  std::int64_t& result_of(std::size_t s) { return of(plan_.steps[s].results[0]); }

  void add(std::size_t s, const ir::AllReduce& op) {
    if (!open_.empty() && op.group != first_of(open_.begin()->second).group) close_all();
    if (const auto found = open_.find(op.bucket); found != open_.end() && !fits(op, s, found->second)) close(op.bucket);
    open_[op.bucket].push_back(s);
    result_of(s) = op.bucket;
  }
  const ir::AllReduce& first_of(const Steps& steps) const { return *bucketed(program_, plan_.steps[steps.front()]); }
  bool fits(const ir::AllReduce& op, std::size_t s, const Steps& steps) const {
    const auto dtype = [&](std::size_t of) { return program_.type_of(plan_.steps[of].results[0]).dtype; };
    return op.fn == first_of(steps).fn && dtype(s) == dtype(steps.front());
  }

  // Joins the steps of an open bucket into one step, at the position of the last of them.
  void close(std::int64_t bucket) {
    const auto found = open_.find(bucket);
    join(found->second);
    open_.erase(found);
  }
  void close_all() {
    for (const auto& [bucket, steps] : open_) join(steps);
    open_.clear();
  }
  void join(const Steps& steps) {
    for (const auto s : steps) result_of(s) = 0;
    if (steps.size() < 2) return;
    PlanStep joined{.node = plan_.steps[steps.front()].node};
    for (const auto s : steps) {
      const auto& step = plan_.steps[s];
      joined.bucket.push_back(step.node);
      joined.reads.push_back(step.reads[0]);
      joined.results.push_back(step.results[0]);
      is_gone_[s] = s != steps.back();
    }
    plan_.steps[steps.back()] = std::move(joined);
  }

  const ir::Program& program_;
  Plan& plan_;
  std::map<std::int64_t, Steps> open_;   // by bucket, all of one group
  std::vector<std::int64_t> bucket_of_;  // per value: the open bucket whose result it is, or 0
  std::vector<bool> is_gone_;            // per step: it was joined into another one
};

}  // namespace

void join_buckets(const ir::Program& program, Plan& plan) { Joiner(program, plan).run(); }

std::vector<std::int32_t> find_collective_ends(const ir::Program& program, const Plan& plan) {
  const auto count = plan.steps.size();
  std::vector<std::int32_t> ends(count, -1);
  std::vector<std::int32_t> first_read(program.values.size(), static_cast<std::int32_t>(count));
  auto next_commit = static_cast<std::int32_t>(count);
  for (auto s = count; s-- > 0;) {  // backwards, so that later readers are known
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
