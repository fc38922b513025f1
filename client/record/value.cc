#include "client/value.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "client/fail.h"
#include "client/record/device_state.h"
#include "ir/op_copy.h"

namespace burn::client {
namespace {

std::atomic<std::uint64_t> next_serial{1};

Ptr<TapeNode> numbered(TapeNode* node) {
  node->serial = next_serial.fetch_add(1, std::memory_order_relaxed);
  return Ptr<TapeNode>::adopt(node);
}

}  // namespace

TapeNode::TapeNode(const ir::Op& kind, std::size_t operand_count, std::size_t result_count, const ir::CallSite& where)
    : site(where), results(result_count), operands(operand_count), op(ir::copy_of(kind)) {}

void drop_last(Storage& storage) { (*storage.device)->drop_last(storage); }

void dropped(TapeNode& node) {
  // A long chain of nodes must not be freed by recursion: nested calls append to a list, which the outermost one
  // empties. The list has no destructor, as nodes are also freed at thread exit and by static objects after it.
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
              as_called((what.empty() ? "" : what + ": ") +
                            "the tensor is empty: default-constructed or moved from; assign one to it first",
                        site) +
                  at_site(site));
}

Value require_grad(const Value& value) {
  fail_if_empty(value, "require_grad", {});
  auto node = numbered(new TapeNode);
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

// Makes the tape node of a recorded op. The caller sets its results.
Ptr<TapeNode> tape_node(const ir::Op& op, std::span<const Value* const> operands, std::size_t results,
                        const ir::CallSite& site) {
  auto node = numbered(new TapeNode(op, operands.size(), results, site));
  for (std::size_t i = 0; i < operands.size(); ++i) node->operands[i] = *operands[i];
  return node;
}

// Sets a node's k-th result, stored without its tape, and returns it for the user, with the tape if it is
// floating-point.
Value on_tape(Ptr<TapeNode> node, std::size_t k, Ptr<Storage> storage) {
  node->results[k] = Value{storage, true};
  if (!ir::is_floating(storage->type.dtype)) node = {};
  return Value{std::move(storage), true, std::move(node), static_cast<int>(k)};
}

}  // namespace

Value apply(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  fail_if_any_empty(op, operands, site);
  auto storage = operands.front()->device()->record(op, operands, site);
  const auto origin = origin_of(operands);
  if (!origin.is_tracked || !ir::is_floating(storage->type.dtype)) return Value{std::move(storage), origin.is_autodiff};
  return on_tape(tape_node(op, operands, 1, site), 0, std::move(storage));
}

Value apply(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  SmallArray<const Value*, 8> pointers{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) pointers[i] = &operands[i];
  return apply(op, pointers.span(), site);
}

SmallArray<Value, 3> apply_all(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  fail_if_any_empty(op, operands, site);
  const auto count = static_cast<std::size_t>(ir::result_count(op));
  SmallArray<Ptr<Storage>, 3> storages{count};
  operands.front()->device()->record(op, operands, site, {storages.data(), count});
  const auto origin = origin_of(operands);
  SmallArray<Value, 3> results{count};
  const auto is_differentiable = [](const Ptr<Storage>& storage) { return ir::is_floating(storage->type.dtype); };
  if (!origin.is_tracked || std::ranges::none_of(storages, is_differentiable)) {
    for (std::size_t k = 0; k < count; ++k) results[k] = Value{std::move(storages[k]), origin.is_autodiff};
    return results;
  }
  const auto node = tape_node(op, operands, count, site);
  for (std::size_t k = 0; k < count; ++k) results[k] = on_tape(node, k, std::move(storages[k]));
  return results;
}

SmallArray<Value, 3> apply_all(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  SmallArray<const Value*, 8> pointers{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) pointers[i] = &operands[i];
  return apply_all(op, pointers.span(), site);
}

}  // namespace burn::client
