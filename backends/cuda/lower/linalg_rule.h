// Chooses how matrices are factored and solved: by blocks of our own kernels, one per matrix, or by cuSOLVER and
// cuBLAS.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "backends/cuda/lower/matrices.h"

namespace burn::backends::cuda::by_library {

enum class Method : std::uint8_t { own_kernel, one_by_one, batched };

// Our kernel takes as long for one matrix as for a few hundred; calls of the library run one after the other, and take
// long to start, so that they gain with a matrix's size and lose with the number of matrices. The limits were measured
// on an H200 (docs/tried.md).
struct Limit {
  std::int64_t side = 0;   // smallest side
  std::int64_t count = 0;  // matrices up to which calls one by one are faster
};
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
struct Rule {
  std::vector<Limit> one_by_one;   // by rising side
  std::int64_t batched_from = 0;   // side from which one batched call is faster than blocks; 0: there is no such call
  std::int64_t batched_up_to = 0;  // side up to which the batched call is faster
};

inline Rule rule_of(const ir::Cholesky&) {
  return {.one_by_one = {{48, 1}}, .batched_from = 64, .batched_up_to = 1024};
}
inline Rule rule_of(const ir::Lu&) {
  return {.one_by_one = {{64, 1}, {384, 4}, {512, 6}, {768, kAny}}, .batched_from = 48, .batched_up_to = 768};
}
inline Rule rule_of(const ir::Solve&) {
  return {.one_by_one = {{48, 1}, {384, 4}, {512, 6}, {768, kAny}}, .batched_from = 64, .batched_up_to = 768};
}
inline Rule rule_of(const ir::Qr&) { return {.one_by_one = {{48, 1}, {192, 3}, {256, 7}, {384, 37}, {512, kAny}}}; }
inline Rule rule_of(const ir::Svd&) {
  return {.one_by_one = {{48, 1}, {64, 2}, {96, 3}, {128, 5}, {192, 11}, {256, 16}, {384, 29}, {512, kAny}}};
}
inline Rule rule_of(const ir::Eigh&) {
  return {.one_by_one = {{48, 2}, {64, 3}, {96, 6}, {128, 9}, {192, 37}, {256, 50}, {384, kAny}}};
}
inline Rule rule_of(const ir::SolveTriangular&) {
  return {.one_by_one = {{48, 1}, {64, 2}, {128, 4}, {192, 5}, {256, 6}, {384, 9}, {512, 16}}};
}

template <typename Op>
Method method_for(const Op& op, const MatrixBatch& batch) {
  const auto rule = rule_of(op);
  const auto side = batch.least();
  std::int64_t most_calls = 0;
  for (const auto& limit : rule.one_by_one) {
    if (side >= limit.side) most_calls = limit.count;
  }
  if (batch.count <= most_calls) return Method::one_by_one;
  if (rule.batched_from > 0 && batch.rows == batch.columns && side >= rule.batched_from && side <= rule.batched_up_to &&
      batch.count > 1)
    return Method::batched;
  // Larger matrices would take one multiprocessor seconds.
  constexpr std::int64_t kTooLarge = 1024;
  return side >= kTooLarge ? Method::one_by_one : Method::own_kernel;
}

}  // namespace burn::backends::cuda::by_library
