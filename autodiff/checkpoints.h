// Which values of a forward pass need not be kept for its backward pass, and those values computed once more. Private
// to backward().
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "client/value.h"

namespace burn::autodiff {

// Of one backward pass, as values of its inner device.
class Checkpoints {
 public:
  // The pass's nodes, operands before results.
  explicit Checkpoints(std::span<client::TapeNode* const> nodes);

  // The value itself where it is kept, or the same computed once more, at this point of the recording. What is computed
  // for one node serves those before it, too.
  client::Value again(const client::Value& value);
  // No node that comes now wants this one's result.
  void forget(const client::TapeNode* node) { recomputed_.erase(node); }

 private:
  // How a value follows from others by cheap functions. `kept`: bytes that would have to be kept for it alone.
  struct Recipe {
    std::int64_t kept = 0;
    std::size_t nodes = 1;
  };

  const Recipe* recipe_of(const client::Value& value) const;
  void consider(client::TapeNode* node);

  std::unordered_set<const client::TapeNode*> needed_;  // whose results a gradient rule computes with
  std::unordered_map<const client::TapeNode*, Recipe> recipes_;
  std::unordered_map<const client::TapeNode*, client::Value> recomputed_;
};

}  // namespace burn::autodiff
