// Gradients of a matrix that is the second factor of many small products, such as the weight of a recurrent cell. The
// operands of all products are collected, and one product with a long inner dim computes the gradient, instead of one
// weight-sized matrix for each product and their sum. Private to backward().
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "client/ops/ops.h"

namespace burn::autodiff {

class SharedFactors {
 public:
  // `results`: the number of values; a value is identified by its number.
  explicit SharedFactors(std::size_t results) : uses_(results) {}

  // Whether a node is a product of matrices, the first with few rows, the second tracked.
  static bool is_small_product(const client::TapeNode& node);
  // Counts one such product with the value `factor` as its second factor. Requires: all are counted before the first
  // add().
  void count(std::uint32_t factor) { ++uses_[factor]; }
  bool is_shared(std::uint32_t factor) const { return uses_[factor] >= kMinUses; }

  // Adds the product a * factor, whose gradient is g. Requires: called in the order of a backward pass, the last
  // product first.
  void add(std::uint32_t factor, client::Value a, client::Value g, const ir::CallSite& site);
  // The factor's gradient through all added products; empty if there are none.
  client::Value take(std::uint32_t factor);

 private:
  static constexpr std::uint32_t kMinUses = 4;
  static constexpr std::int64_t kMaxRows = 512;  // with more rows, a product takes longer than adding up its result

  struct Parts {
    std::vector<client::Value> as, gs;  // as[i] and gs[i] have the same number of rows
    ir::CallSite site;
  };

  std::vector<std::uint32_t> uses_;
  std::unordered_map<std::uint32_t, Parts> parts_;
};

}  // namespace burn::autodiff
