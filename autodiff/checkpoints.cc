#include "autodiff/checkpoints.h"

#include <algorithm>

#include "autodiff/checkpointing.h"
#include "client/record/recomputation_scope.h"

namespace burn {
namespace {

constinit thread_local GradientCheckpointingStrategy active = GradientCheckpointingStrategy::disabled;

}  // namespace

GradientCheckpointing::GradientCheckpointing(GradientCheckpointingStrategy strategy) : outer_(active) {
  active = strategy;
}
GradientCheckpointing::~GradientCheckpointing() { active = outer_; }
GradientCheckpointingStrategy GradientCheckpointing::strategy() { return active; }

namespace autodiff {
namespace {

using client::TapeNode;
using client::Value;
using Fn = ir::PointwiseFn;

constexpr std::int64_t kMinBytes = 16 << 10;  // smaller values are kept, as recomputing them costs a kernel
constexpr std::size_t kMaxNodes = 64;         // to be recomputed for one value

std::int64_t bytes_of(const Value& value) { return static_cast<std::int64_t>(value.type().num_bytes()); }

bool is_view(const ir::Op& op) {
  return std::holds_alternative<ir::Reshape>(op) || std::holds_alternative<ir::Permute>(op) ||
         std::holds_alternative<ir::Expand>(op) || std::holds_alternative<ir::Slice>(op) ||
         std::holds_alternative<ir::Place>(op);
}

bool is_cheap(const ir::Op& op) {
  return std::holds_alternative<ir::Pointwise>(op) || std::holds_alternative<ir::Cast>(op) || is_view(op);
}

// Whether the node's gradient rule uses its i-th operand. An estimate: a wrong answer costs memory or time.
bool needs_operand(const TapeNode& node, std::size_t i) {
  if (is_view(node.op) || std::holds_alternative<ir::Cast>(node.op)) return false;
  if (const auto* reduce = std::get_if<ir::Reduce>(&node.op)) return reduce->fn != ir::ReduceFn::sum;
  const auto* formula = std::get_if<ir::Pointwise>(&node.op);
  if (formula == nullptr) return true;
  switch (formula->fn) {
    case Fn::add:
    case Fn::sub:
    case Fn::neg:
    case Fn::relu:
    case Fn::exp:
    case Fn::expm1:
    case Fn::sigmoid:
    case Fn::sqrt:
    case Fn::rsqrt:
    case Fn::tanh:
      return false;
    case Fn::mul:
      return node.operands[1 - i].is_tracked();
    case Fn::div:
      return i == 1;
    case Fn::select:
      return i == 0;
    default:
      return true;
  }
}

bool needs_result(const TapeNode& node) {
  const auto* formula = std::get_if<ir::Pointwise>(&node.op);
  if (formula == nullptr) return !is_cheap(node.op);
  switch (formula->fn) {
    case Fn::relu:
    case Fn::exp:
    case Fn::expm1:
    case Fn::sigmoid:
    case Fn::sqrt:
    case Fn::rsqrt:
    case Fn::tanh:
      return true;
    case Fn::div:
      return node.operands[1].is_tracked();
    default:
      return false;
  }
}

}  // namespace

Checkpoints::Checkpoints(std::span<TapeNode* const> nodes) {
  for (TapeNode* node : nodes) {
    if (node->is_leaf) continue;
    if (needs_result(*node)) needed_.insert(node);
    for (std::size_t i = 0; i < node->operands.size(); ++i) {
      if (node->operands[i].is_tracked() && needs_operand(*node, i)) needed_.insert(node->operands[i].tape().get());
    }
  }
  for (TapeNode* node : nodes) consider(node);
}

const Checkpoints::Recipe* Checkpoints::recipe_of(const Value& value) const {
  const auto found = value.is_tracked() ? recipes_.find(value.tape().get()) : recipes_.end();
  return found == recipes_.end() ? nullptr : &found->second;
}

// Adds the recipe of the node's result, if it is cheap to recompute. Operands without a recipe have to be kept: leaves,
// untracked values and those that some rule uses are kept anyway; the bytes of the others are its cost.
void Checkpoints::consider(TapeNode* node) {
  if (node->is_leaf || !is_cheap(node->op) || node->results.size() != 1) return;
  Recipe recipe;
  for (const Value& operand : node->operands) {
    if (const auto* inner = recipe_of(operand)) {
      recipe.kept += inner->kept;
      recipe.nodes += inner->nodes;
    } else if (operand.is_tracked() && !operand.tape()->is_leaf && !needed_.contains(operand.tape().get())) {
      recipe.kept += bytes_of(operand);
    }
  }
  if (recipe.nodes <= kMaxNodes && 2 * recipe.kept <= bytes_of(node->results[0])) recipes_[node] = recipe;
}

Value Checkpoints::kept_or_recomputed(const Value& value) {
  if (recipe_of(value) == nullptr || bytes_of(value) < kMinBytes) return value.inner();
  TapeNode* node = value.tape().get();
  if (const auto known = recomputed_.find(node); known != recomputed_.end()) return known->second;
  std::vector<Value> operands;
  operands.reserve(node->operands.size());
  for (const Value& operand : node->operands) operands.push_back(kept_or_recomputed(operand));
  const client::RecomputationScope scope;
  return recomputed_[node] = client::apply(node->op, operands, node->site);
}

}  // namespace autodiff
}  // namespace burn
