// Chooses the values of a forward pass that are recomputed for its backward pass instead of being kept, and recomputes
// them. Private to backward().
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "client/value.h"

namespace burn::autodiff {

// The checkpoints of one backward pass. Its results are values of the inner device.
class Checkpoints {
 public:
  // `nodes`: those of the pass, operands before results.
  explicit Checkpoints(std::span<client::TapeNode* const> nodes);

  // Returns the value itself if it is kept; otherwise records its recomputation here. A recomputed value is reused for
  // the nodes visited later.
  client::Value kept_or_recomputed(const client::Value& value);
  // Called when the nodes still to be visited do not need this node's result.
  void forget(const client::TapeNode* node) { recomputed_.erase(node); }

 private:
  // The cost of recomputing a value by cheap ops. `kept`: bytes that would have to be kept only for it; `nodes`: ops to
  // record.
  struct Recipe {
    std::int64_t kept = 0;
    std::size_t nodes = 1;
  };

  const Recipe* recipe_of(const client::Value& value) const;
  void consider(client::TapeNode* node);

  std::unordered_set<const client::TapeNode*> needed_;  // nodes whose results some gradient rule uses
  std::unordered_map<const client::TapeNode*, Recipe> recipes_;
  std::unordered_map<const client::TapeNode*, client::Value> recomputed_;
};

}  // namespace burn::autodiff
