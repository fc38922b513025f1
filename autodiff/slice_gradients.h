// Gradients of slices. A value that was cut into pieces (queries, keys and values of one product, the gates of a cell)
// gets its gradient in pieces, too. They are collected until all have arrived, and then concatenated, instead of being
// padded with zeros and added. Private to backward().
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "client/ops/ops.h"

namespace burn::autodiff {

class SliceGradients {
 public:
  // `g`: the gradient of the result of `op`; `result`, `shape`: the number and shape of the value that it slices.
  // Requires: steps of 1.
  void add(std::uint32_t result, const ir::Shape& shape, const ir::Slice& op, client::Value g,
           const ir::CallSite& site);
  // The gradient of the sliced value, from all of its pieces; empty if there are none.
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
