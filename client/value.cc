#include "client/value.h"

#include <algorithm>

#include "base/error.h"
#include "client/device_state.h"

namespace burn::client {
namespace {

std::atomic<std::uint64_t> next_serial{1};

Ptr<TapeNode> new_tape_node() {
  auto* node = new TapeNode;
  node->serial = next_serial.fetch_add(1, std::memory_order_relaxed);
  return Ptr<TapeNode>{node};
}

}  // namespace

void retain(Storage& storage) { storage.owners.fetch_add(1, std::memory_order_relaxed); }

void drop(Storage& storage) {
  if (storage.owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const auto device = storage.device;  // dropped() may free the storage that holds the last reference
  device->dropped(storage);
}

void retain(TapeNode& node) { node.owners.fetch_add(1, std::memory_order_relaxed); }

void drop(TapeNode& node) {
  if (node.owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // A long chain of nodes must not be freed by recursion: the outermost call empties a list.
  thread_local std::vector<TapeNode*> doomed;
  thread_local bool is_freeing = false;
  doomed.push_back(&node);
  if (is_freeing) return;
  is_freeing = true;
  while (!doomed.empty()) {
    TapeNode* next = doomed.back();
    doomed.pop_back();
    delete next;
  }
  is_freeing = false;
}

Value require_grad(const Value& value) {
  auto node = new_tape_node();
  node->is_leaf = true;
  return Value{value.storage(), true, std::move(node)};
}

Value apply(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  auto storage = operands.front().device()->record(op, operands, site);
  const bool autodiff = std::any_of(operands.begin(), operands.end(), [](const Value& v) { return v.is_autodiff(); });
  const bool tracked = autodiff && ir::is_floating(storage->type.dtype) &&
                       std::any_of(operands.begin(), operands.end(), [](const Value& v) { return v.is_tracked(); });
  if (!tracked) return Value{std::move(storage), autodiff};
  auto node = new_tape_node();
  node->op = op;
  node->operands.assign(operands.begin(), operands.end());
  node->result = Value{storage, true};
  node->site = site;
  return Value{std::move(storage), true, std::move(node)};
}

}  // namespace burn::client
