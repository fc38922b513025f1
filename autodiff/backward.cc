#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "autodiff/math.h"
#include "autodiff/rules.h"
#include "base/error.h"
#include "client/gradients.h"

namespace burn {

std::optional<client::Value> Gradients::get(const client::Value& leaf) const {
  if (!leaf.is_tracked()) return std::nullopt;
  const auto found = by_serial_.find(leaf.tape()->serial);
  return found == by_serial_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<client::Value> Gradients::remove(const client::Value& leaf) {
  auto result = get(leaf);
  if (result) by_serial_.erase(leaf.tape()->serial);
  return result;
}

void Gradients::replace(const client::Value& leaf, client::Value gradient) {
  if (leaf.is_tracked()) put(leaf.tape()->serial, std::move(gradient));
}

namespace client {
namespace {

// Every node that `loss` depends on, results before operands.
std::vector<TapeNode*> in_reverse_order(TapeNode* loss, const ir::CallSite& site) {
  std::vector<TapeNode*> nodes{loss};
  std::unordered_set<TapeNode*> seen{loss};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->is_consumed) {
      throw Error(StatusCode::failed_precondition,
                  "backward: the graph behind this tensor was freed by an earlier backward; pass retain_graph to keep it (at " +
                      ir::to_string(site) + ")");
    }
    for (const Value& operand : nodes[i]->operands) {
      if (operand.is_tracked() && seen.insert(operand.tape().get()).second) nodes.push_back(operand.tape().get());
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](const TapeNode* a, const TapeNode* b) { return a->serial > b->serial; });
  return nodes;
}

// What the node's operands get, given the gradient of its result.
autodiff::OperandGradients step_back(TapeNode& node, const Value& g, bool create_graph) {
  std::vector<Value> operands;
  std::unique_ptr<bool[]> needs(new bool[node.operands.size()]);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    needs[i] = node.operands[i].is_tracked();
    operands.push_back(create_graph ? node.operands[i] : node.operands[i].inner());
  }
  const Value result = create_graph ? Value{node.result.storage(), true, Ptr<TapeNode>{&node}} : node.result.inner();
  autodiff::current_site = node.site;
  return autodiff::gradients(node.op, {operands, result, g, {needs.get(), node.operands.size()}, node.site});
}

}  // namespace

Gradients backward(const Value& loss, const BackwardOptions& options, const ir::CallSite& site) {
  if (!loss.is_tracked()) {
    throw Error(StatusCode::failed_precondition,
                "backward: no tensor that requires a gradient leads to this " + ir::to_string(loss.type()) + " (at " +
                    ir::to_string(site) + "); is the model on device.autodiff()?");
  }
  const auto nodes = in_reverse_order(loss.tape().get(), site);
  std::unordered_map<std::uint64_t, Value> pending;
  const Place place{loss.device(), options.create_graph};
  pending[loss.tape()->serial] = filled(place, loss.shape(), 1, loss.dtype(), site);
  Gradients result;
  for (TapeNode* node : nodes) {
    const auto found = pending.find(node->serial);
    if (found == pending.end()) continue;  // only through operands that no gradient flows to
    const Value g = std::move(found->second);
    pending.erase(found);
    if (node->is_leaf) {
      result.put(node->serial, g);
      continue;
    }
    auto gradients = step_back(*node, g, options.create_graph);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i]) continue;
      auto& sum = pending[node->operands[i].tape()->serial];
      sum = sum.has_value() ? pointwise(ir::PointwiseFn::add, sum, *gradients[i], node->site) : *std::move(gradients[i]);
    }
  }
  if (!options.retain_graph && !options.create_graph) {
    // Operands own the nodes before them; hold those until all are emptied.
    std::vector<Value> operands;
    for (TapeNode* node : nodes) {
      if (node->is_leaf) continue;
      node->is_consumed = true;
      node->result = {};
      std::move(node->operands.begin(), node->operands.end(), std::back_inserter(operands));
      node->operands.clear();
    }
  }
  return result;
}

}  // namespace client
}  // namespace burn
