#include "client/value.h"

#include <algorithm>

#include "base/error.h"
#include "client/device_state.h"
#include "ir/op_copy.h"

namespace burn::client {
namespace {

std::atomic<std::uint64_t> next_serial{1};

Ptr<TapeNode> numbered(TapeNode* node) {
  node->serial = next_serial.fetch_add(1, std::memory_order_relaxed);
  return Ptr<TapeNode>{node};
}

}  // namespace

void dropped(Storage& storage) { (*storage.device)->dropped(storage); }

void dropped(TapeNode& node) {
  // A long chain of nodes must not be freed by recursion: the outermost call empties a list.
  thread_local std::vector<TapeNode*> doomed;
  thread_local bool is_freeing = false;
  if (is_freeing) {
    doomed.push_back(&node);
    return;
  }
  is_freeing = true;
  delete &node;
  while (!doomed.empty()) {
    TapeNode* next = doomed.back();
    doomed.pop_back();
    delete next;
  }
  is_freeing = false;
}

Value require_grad(const Value& value) { return Value{value.storage(), true, numbered(new TapeNode)}; }

Value apply(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  auto storage = operands.front()->device()->record(op, operands, site);
  bool autodiff = false, tracked = false;
  for (const Value* operand : operands) {
    autodiff |= operand->is_autodiff();
    tracked |= operand->is_tracked();
  }
  if (!autodiff || !tracked || !ir::is_floating(storage->type.dtype)) return Value{std::move(storage), autodiff};
  auto node = numbered(new TapeNode);
  node->is_leaf = false;
  node->site = site;
  ir::assign(node->op, op);
  node->operands = Few<Value, 3>{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) node->operands[i] = *operands[i];
  node->result = Value{storage, true};
  return Value{std::move(storage), true, std::move(node)};
}

Value apply(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  Few<const Value*, 8> pointers{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) pointers[i] = &operands[i];
  return apply(op, pointers.span(), site);
}

}  // namespace burn::client
