#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "autodiff/checkpointing.h"
#include "autodiff/checkpoints.h"
#include "autodiff/math.h"
#include "autodiff/node_table.h"
#include "autodiff/rules.h"
#include "autodiff/shared_factors.h"
#include "autodiff/slice_gradients.h"
#include "base/error.h"
#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/gradients.h"

namespace burn {

namespace client {
namespace {

// Finds every node that `loss` depends on. Returns their numbers, results before operands.
std::vector<std::uint32_t> in_reverse_order(TapeNode* loss, autodiff::NodeTable& table, const ir::CallSite& site) {
  table.insert(loss);
  for (std::size_t i = 0; i < table.size(); ++i) {
    TapeNode* node = table.node(i);
    if (node->is_consumed) {
      throw Error(
          StatusCode::failed_precondition,
          "backward: the graph behind this tensor was freed by an earlier backward; pass retain_graph to keep it" +
              client::at_site(site));
    }
    for (const Value& operand : node->operands) {
      if (operand.is_tracked()) table.insert(operand.tape().get());
    }
  }
  std::vector<std::uint32_t> order(table.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return table.node(a)->serial > table.node(b)->serial; });
  return order;
}

// Kernels of elementwise functions recompute their operands themselves (docs/adr/022), so they do not read them from
// memory.
bool reads_from_memory(const TapeNode& node) {
  return !std::holds_alternative<ir::Pointwise>(node.op) && !std::holds_alternative<ir::Cast>(node.op);
}

// The gradients of the node's operands, given those of its results, of which some may be empty. `waits`: the operand
// whose gradient is computed later; -1: none.
autodiff::OperandGradients step_back(TapeNode& node, std::span<const Value> gs, bool create_graph,
                                     autodiff::Checkpoints* checkpoints, int waits) {
  SmallArray<Value, 3> operands{node.operands.size()};
  SmallArray<bool, 8> needs{node.operands.size()};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    needs[i] = node.operands[i].is_tracked() && static_cast<int>(i) != waits;
    if (checkpoints != nullptr && reads_from_memory(node))
      operands[i] = checkpoints->kept_or_recomputed(node.operands[i]);
    else
      operands[i] = create_graph ? node.operands[i] : node.operands[i].inner();
  }
  SmallArray<Value, 1> results{node.results.size()};
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto& storage = node.results[k].storage();
    const bool follows = create_graph && ir::is_floating(storage->type.dtype);
    results[k] = follows ? Value{storage, true, Ptr<TapeNode>{&node}, static_cast<int>(k)} : node.results[k].inner();
  }
  const SiteScope scope{node.site};
  Value zeros;
  if (!gs[0].has_value()) {
    const Value& y = node.results[0];
    zeros = filled({y.device(), create_graph}, y.shape(), 0, y.dtype(), node.site);
  }
  const Value& g = gs[0].has_value() ? gs[0] : zeros;
  return autodiff::gradients(node.op, {operands.span(), results[0], g, needs.span(), node.site, results.span(), gs});
}

// Whether the node is a slice of consecutive elements, whose gradient is collected with those of other slices
// (autodiff/slice_gradients.h).
bool is_piece(const TapeNode& node) {
  const auto* slice = node.is_leaf ? nullptr : std::get_if<ir::Slice>(&node.op);
  return slice != nullptr && node.operands[0].is_tracked() &&
         std::ranges::all_of(slice->steps, [](std::int64_t step) { return step == 1; });
}

void add_to(Value& sum, Value&& g, const ir::CallSite& site) {
  sum = sum.has_value() ? pointwise(ir::PointwiseFn::add, sum, g, site) : std::move(g);
}

// The gradient of the table of a sparse lookup, given that of the rows that it returned.
SparseGradient gradient_of_table(const TapeNode& node, const Value& g) {
  const Value& index = node.operands[1];  // [n, ...]: the same number in all elements of a row
  ir::Dims starts = ir::Dims::filled(index.rank(), 0), steps = ir::Dims::filled(index.rank(), 1);
  ir::Shape column = ir::Shape::filled(index.rank(), 1);
  column[0] = index.dim(0);
  const Value numbers = apply(ir::Slice{starts, column, steps}, index.inner(), node.site);
  return {reshape(numbers, {index.dim(0)}, node.site), g, node.operands[0].shape()};
}

// Collects the sparse gradients of leaves, by the number of their result, until all have arrived.
class SparseParts {
 public:
  // Whether the node is a lookup whose table gets a sparse gradient. Not for rows without elements, whose index cannot
  // be read.
  static bool takes(const TapeNode& node) {
    if (node.is_leaf || !node.is_sparse || !node.operands[0].is_tracked()) return false;
    ir::Shape row = node.results[0].shape();
    row.erase(0);
    return ir::num_elements(row) > 0;
  }

  void add(std::uint32_t result, SparseGradient gradient) { parts_[result].push_back(std::move(gradient)); }
  std::optional<SparseGradient> take(std::uint32_t result, const ir::CallSite& site) {
    const auto node = parts_.extract(result);
    return node.empty() ? std::nullopt : std::optional{sum_of(node.mapped(), site)};
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<SparseGradient>> parts_;
};

// The strategy set on the nodes, or that of the scope if none is set.
GradientCheckpointingStrategy strategy_of(const autodiff::NodeTable& table) {
  using Strategy = GradientCheckpointingStrategy;
  std::uint8_t said = 0;
  for (std::size_t i = 0; i < table.size(); ++i) said = std::max(said, table.node(i)->checkpointing);
  return said == 0 ? GradientCheckpointing::strategy() : static_cast<Strategy>(said - 1);
}

// One walk from a value back to the leaves that it depends on. Results are visited before operands, so all gradients of
// a node have arrived when it is visited.
class BackwardPass {
 public:
  // Errors (thrown): a graph that an earlier backward freed.
  BackwardPass(const Value& loss, bool create_graph, const ir::CallSite& site)
      : create_graph_(create_graph),
        order_(in_reverse_order(loss.tape().get(), table_, site)),
        pending_(table_.result_count()),
        shared_(table_.result_count()) {
    if (create_graph_) return;
    if (strategy_of(table_) == GradientCheckpointingStrategy::balanced) {
      std::vector<TapeNode*> nodes(order_.size());
      std::ranges::transform(order_, nodes.rbegin(), [&](std::uint32_t number) { return table_.node(number); });
      checkpoints_.emplace(nodes);
      return;  // with checkpoints, as in passes of a higher order, the gradient of each product is computed by itself
    }
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const TapeNode& node = *table_.node(i);
      if (autodiff::SharedFactors::is_small_product(node)) shared_.count(table_.result_of(node.operands[1]));
    }
  }

  // `loss`: that of the constructor; `gradient`: its gradient. Requires: called once.
  Gradients run(const Value& loss, const Value& gradient) {
    pending_[table_.result_of(loss)] = create_graph_ ? gradient : gradient.inner();
    for (const auto number : order_) visit(number);
    return std::move(result_);
  }

  // Frees the operands and results that the tape's nodes keep.
  void free_graph() {
    std::vector<Value> operands;  // they own the nodes before them, so they are destroyed only after the loop
    operands.reserve(table_.operand_count());
    for (std::size_t i = 0; i < table_.size(); ++i) {
      TapeNode* node = table_.node(i);
      if (node->is_leaf) continue;
      node->is_consumed = true;
      node->results.clear();
      for (Value& operand : node->operands) operands.push_back(std::move(operand));
      node->operands.clear();
    }
  }

 private:
  void visit(std::uint32_t number) {
    TapeNode& node = *table_.node(number);
    if (checkpoints_) checkpoints_->forget(&node);
    const auto arrived = collect(number);
    // No gradient arrives if every path from the loss contains an operand to which none flows.
    if (std::ranges::none_of(arrived, [](const Value& g) { return g.has_value(); })) return;
    if (node.is_leaf)
      result_.put(node.serial, std::move(arrived[0]));
    else if (!keep_part(node, arrived[0]))
      pass_on(node, arrived);
  }

  // The gradients of the node's results, of which some may be empty. A leaf's sparse gradient is stored in result_,
  // unless there is a dense one to add it to.
  std::span<Value> collect(std::uint32_t number) {
    const TapeNode& node = *table_.node(number);
    const auto first = table_.first_result(number);
    const std::span arrived(pending_.data() + first, node.is_leaf ? 1 : node.results.size());
    for (std::size_t k = 0; k < arrived.size(); ++k) {
      const auto value = first + static_cast<std::uint32_t>(k);
      if (auto whole = pieces_.take(value); whole.has_value()) add_to(arrived[k], std::move(whole), node.site);
      if (auto whole = shared_.take(value); whole.has_value()) add_to(arrived[k], std::move(whole), node.site);
    }
    if (auto rows = node.is_leaf ? sparse_.take(first, node.site) : std::nullopt) {
      if (arrived[0].has_value())
        arrived[0] = add_rows(arrived[0], *rows, node.site);
      else
        result_.put(node.serial, *std::move(rows));
    }
    return arrived;
  }

  // If the gradient `g` of the node's result is only a part of its operand's, keeps it until the other parts have
  // arrived, and returns true.
  bool keep_part(const TapeNode& node, Value& g) {
    if (is_piece(node)) {
      const auto& x = node.operands[0];
      pieces_.add(table_.result_of(x), x.shape(), std::get<ir::Slice>(node.op), std::move(g), node.site);
      return true;
    }
    if (create_graph_ || !SparseParts::takes(node)) return false;
    sparse_.add(table_.result_of(node.operands[0]), gradient_of_table(node, g));
    g = {};
    return true;
  }

  // Adds to the gradients of the node's operands.
  void pass_on(TapeNode& node, std::span<Value> arrived) {
    int waits = -1;
    if (autodiff::SharedFactors::is_small_product(node)) {
      if (const auto factor = table_.result_of(node.operands[1]); shared_.is_shared(factor)) {
        shared_.add(factor, node.operands[0].inner(), arrived[0], node.site);
        waits = 1;
      }
    }
    auto gradients = step_back(node, arrived, create_graph_, checkpoints_ ? &*checkpoints_ : nullptr, waits);
    for (Value& g : arrived) g = {};
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      auto& gradient = gradients[i];
      if (gradient) add_to(pending_[table_.result_of(node.operands[i])], *std::move(gradient), node.site);
    }
  }

  const bool create_graph_;
  autodiff::NodeTable table_;
  const std::vector<std::uint32_t> order_;
  std::vector<Value> pending_;  // the sum of the gradients so far, by number of the result
  autodiff::SharedFactors shared_;
  autodiff::SliceGradients pieces_;
  SparseParts sparse_;
  std::optional<autodiff::Checkpoints> checkpoints_;
  Gradients result_;
};

}  // namespace

void set_checkpointing(const Value& value, GradientCheckpointingStrategy strategy, const ir::CallSite& site) {
  if (!value.is_tracked()) {
    throw Error(StatusCode::failed_precondition,
                "with_gradient_checkpointing_strategy: no gradient flows through this " + ir::to_string(value.type()) +
                    " (at " + ir::to_string(site) + ")");
  }
  value.tape()->checkpointing = static_cast<std::uint8_t>(1 + static_cast<int>(strategy));
}

Gradients backward(const Value& loss, const BackwardOptions& options, const ir::CallSite& site) {
  if (loss.type().num_elements() != 1) {
    fail("backward: " + ir::to_string(loss.type()) +
             " is not one number: reduce it, by sum() or mean(), or pass its gradient",
         site);
  }
  return backward(loss, filled({loss.device(), options.create_graph}, loss.shape(), 1, loss.dtype(), site), options,
                  site);
}

Gradients backward(const Value& loss, const Value& gradient, const BackwardOptions& options, const ir::CallSite& site) {
  const Autocast pause{ir::DType::f32};  // a gradient computes in the dtype of its value
  if (!loss.is_tracked()) {
    throw Error(StatusCode::failed_precondition, "backward: no tensor that requires a gradient leads to this " +
                                                     ir::to_string(loss.type()) +
                                                     "; is the model on device.autodiff()?" + at_site(site));
  }
  if (gradient.type() != loss.type()) {
    fail("backward: the gradient is " + ir::to_string(gradient.type()) + ", the tensor " + ir::to_string(loss.type()),
         site);
  }
  BackwardPass pass{loss, options.create_graph, site};
  auto result = pass.run(loss, gradient);
  if (!options.retain_graph && !options.create_graph) pass.free_graph();
  return result;
}

}  // namespace client
}  // namespace burn
