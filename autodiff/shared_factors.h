// Gradients of matrices that many small products share as their second factor: the weight of a recurrent cell. The
// products' parts wait until all are there, and are then one product with a long inner dim, where each by itself would
// be a matrix as large as the weight, and all of those added up. Private to backward().
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "client/ops/ops.h"

namespace burn::autodiff {

class SharedFactors {
 public:
  // `results`: how many values there are; they are named by their numbers.
  explicit SharedFactors(std::size_t results) : uses_(results) {}

  // Whether a node is a product that counts: of matrices, the first with few rows, the second tracked.
  static bool is_small_product(const client::TapeNode& node);
  // One such product with the value `factor` as its second factor. All are counted before the first add().
  void count(std::uint32_t factor) { ++uses_[factor]; }
  bool is_shared(std::uint32_t factor) const { return uses_[factor] >= kMinUses; }

  // a factor has the gradient g. Requires: in the order of a backward pass, the last product first.
  void add(std::uint32_t factor, client::Value a, client::Value g, const ir::CallSite& site);
  // The factor's gradient by all of them; empty where there are none.
  client::Value take(std::uint32_t factor);

 private:
  static constexpr std::uint32_t kMinUses = 4;
  static constexpr std::int64_t kMaxRows = 512;  // a product of more rows takes longer than adding its result to others

  struct Parts {
    std::vector<client::Value> as, gs;  // a part of each: as many rows
    ir::CallSite site;
  };

  std::vector<std::uint32_t> uses_;
  std::unordered_map<std::uint32_t, Parts> parts_;
};

}  // namespace burn::autodiff
