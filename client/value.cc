#include "client/value.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "client/record/device_state.h"
#include "ir/op_copy.h"

namespace burn::client {
namespace {

std::atomic<std::uint64_t> next_serial{1};

Ptr<TapeNode> numbered(TapeNode* node) {
  node->serial = next_serial.fetch_add(1, std::memory_order_relaxed);
  return Ptr<TapeNode>{node};
}

}  // namespace

void drop_last(Storage& storage) { (*storage.device)->drop_last(storage); }

void dropped(TapeNode& node) {
  // A long chain of nodes must not be freed by recursion: the outermost call empties a list. Threads free nodes to
  // their very end, and static objects after it, so it needs no destructor.
  static constinit thread_local TapeNode* doomed = nullptr;
  static constinit thread_local bool is_freeing = false;
  if (is_freeing) {
    node.next_doomed = std::exchange(doomed, &node);
    return;
  }
  is_freeing = true;
  delete &node;
  while (doomed != nullptr) {
    TapeNode* const next = doomed;
    doomed = next->next_doomed;
    delete next;
  }
  is_freeing = false;
}

void throw_empty(const std::string& what, const ir::CallSite& site) {
  throw Error(StatusCode::failed_precondition,
              (what.empty() ? "" : what + ": ") +
                  "the tensor is empty: default-constructed or moved from; assign one to it first" +
                  (site.file != nullptr ? " (at " + ir::to_string(site) + ")" : ""));
}

Value require_grad(const Value& value) {
  fail_if_empty(value, "require_grad", {});
  auto node = numbered(new TapeNode);
  node->is_leaf = true;
  return Value{value.storage(), true, std::move(node)};
}

namespace {

[[gnu::cold]] [[noreturn]] void throw_empty_operand(const ir::Op& op, std::span<const Value* const> operands,
                                                    const ir::CallSite& site) {
  const auto empty = std::ranges::find_if(operands, [](const Value* operand) { return !operand->has_value(); });
  std::string what{ir::name(op)};
  if (operands.size() > 1) {
    what += ": operand " + std::to_string(empty - operands.begin() + 1) + " of " + std::to_string(operands.size());
  }
  throw_empty(what, site);
}

void fail_if_any_empty(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  for (const Value* operand : operands) {
    if (!operand->has_value()) [[unlikely]]
      throw_empty_operand(op, operands, site);
  }
}

struct Origin {
  bool is_autodiff = false, is_tracked = false;
};

Origin origin_of(std::span<const Value* const> operands) {
  Origin origin;
  for (const Value* operand : operands) {
    origin.is_autodiff |= operand->is_autodiff();
    origin.is_tracked |= operand->is_tracked();
  }
  return origin;
}

// The storages of a node's results as Values: on the tape if a gradient can reach them.
void to_values(const ir::Op& op, std::span<const Value* const> operands, const Origin& origin,
               std::span<Ptr<Storage>> storages, std::span<Value> results, const ir::CallSite& site) {
  bool differentiable = false;
  for (const auto& storage : storages) differentiable |= ir::is_floating(storage->type.dtype);
  if (!origin.is_autodiff || !origin.is_tracked || !differentiable) {
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = Value{std::move(storages[k]), origin.is_autodiff};
    return;
  }
  auto node = numbered(new TapeNode);
  node->site = site;
  ir::assign(node->op, op);
  node->operands = Few<Value, 3>{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) node->operands[i] = *operands[i];
  node->results = Few<Value, 1>{storages.size()};
  for (std::size_t k = 0; k < results.size(); ++k) {
    node->results[k] = Value{storages[k], true};
    const bool flows = ir::is_floating(storages[k]->type.dtype);
    results[k] = Value{std::move(storages[k]), true, flows ? node : Ptr<TapeNode>{}, static_cast<int>(k)};
  }
}

}  // namespace

Value apply(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  fail_if_any_empty(op, operands, site);
  auto storage = operands.front()->device()->record(op, operands, site);
  const auto origin = origin_of(operands);
  if (!origin.is_tracked) return Value{std::move(storage), origin.is_autodiff};  // most ops: nothing for the tape
  Value result;
  to_values(op, operands, origin, {&storage, 1}, {&result, 1}, site);
  return result;
}

Value apply(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  Few<const Value*, 8> pointers{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) pointers[i] = &operands[i];
  return apply(op, pointers.span(), site);
}

Few<Value, 3> apply_all(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  fail_if_any_empty(op, operands, site);
  const auto count = static_cast<std::size_t>(ir::result_count(op));
  Few<Ptr<Storage>, 3> storages{count};
  operands.front()->device()->record(op, operands, site, {storages.data(), count});
  Few<Value, 3> results{count};
  to_values(op, operands, origin_of(operands), {storages.data(), count}, {results.data(), count}, site);
  return results;
}

Few<Value, 3> apply_all(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  Few<const Value*, 8> pointers{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) pointers[i] = &operands[i];
  return apply_all(op, pointers.span(), site);
}

}  // namespace burn::client
