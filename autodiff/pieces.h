// Gradients of slices. A value that was cut into pieces (queries, keys and values of one product, the gates of a cell)
// gets its gradient in pieces, too: they wait until all are there and are then put side by side, where each by itself
// would be written into zeros and all of those added up. Private to backward().
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "client/ops/ops.h"

namespace burn::autodiff {

class Pieces {
 public:
  // `g`: the gradient of `op`'s result, `result` the number of the value that it cuts. Requires: steps of 1.
  // `shape`: that of the value.
  void add(std::uint32_t result, const ir::Shape& shape, const ir::Slice& op, client::Value g,
           const ir::CallSite& site);
  // The gradient that they make together, of the shape of what was cut; empty where there are none.
  client::Value take(std::uint32_t result);

 private:
  struct Piece {
    ir::Slice op;
    client::Value g;
    ir::CallSite site;
  };
  struct Cut {
    ir::Shape shape;
    std::vector<Piece> pieces;
  };
  static client::Value side_by_side(const Cut& cut);
  static client::Value added_up(const Cut& cut);

  std::unordered_map<std::uint32_t, Cut> by_result_;
};

}  // namespace burn::autodiff
