// The numbering of a backward pass's nodes. Private to backward().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/value.h"

namespace burn::autodiff {

// The nodes of one backward pass, numbered in the order of insertion, and their results, numbered consecutively over
// all nodes. An open-addressing hash table, as a pass looks up every operand of every node.
class NodeTable {
 public:
  NodeTable() : slots_(64) {}

  std::size_t size() const { return nodes_.size(); }
  std::size_t result_count() const { return first_result_.back() + results_of(*nodes_.back()); }
  std::size_t operand_count() const { return operand_count_; }  // of all nodes
  client::TapeNode* node(std::size_t number) const { return nodes_[number]; }
  std::uint32_t first_result(std::size_t number) const { return first_result_[number]; }
  void insert(client::TapeNode* node) {
    auto& slot = find(node);
    if (slot.node != nullptr) return;
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    slot = {node, number};
    first_result_.push_back(nodes_.empty() ? 0 : static_cast<std::uint32_t>(result_count()));
    nodes_.push_back(node);
    operand_count_ += node->operands.size();
    if (2 * nodes_.size() > slots_.size()) grow();
  }
  // The number of a tracked value among all results.
  std::uint32_t result_of(const client::Value& value) {
    return first_result_[find(value.tape().get()).number] + static_cast<std::uint32_t>(value.tape_result());
  }

 private:
  struct Slot {
    client::TapeNode* node = nullptr;
    std::uint32_t number = 0;
  };

  static std::size_t results_of(const client::TapeNode& node) { return node.is_leaf ? 1 : node.results.size(); }

  Slot& find(client::TapeNode* node) {
    const auto mask = slots_.size() - 1;
    auto i = static_cast<std::size_t>(node->serial * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (slots_[i].node != nullptr && slots_[i].node != node) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    slots_.assign(slots_.size() * 2, {});
    for (std::size_t i = 0; i < nodes_.size(); ++i) find(nodes_[i]) = {nodes_[i], static_cast<std::uint32_t>(i)};
  }

  std::vector<client::TapeNode*> nodes_;
  std::vector<std::uint32_t> first_result_;  // for each node, by its number
  std::size_t operand_count_ = 0;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace burn::autodiff
