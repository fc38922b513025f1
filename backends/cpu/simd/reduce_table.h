// The inner loops of reductions, for kernels that run the outer loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/ops.h"

namespace burn::backends::cpu {

inline constexpr std::int64_t kMaxColumns = 512;  // of `rows`

// Loops for one function, dtype and dtype of the result. They use `totals` of a type of their own, of total_size bytes
// each.
struct ReduceLoops {
  std::size_t total_size = 0;
  void (*fill)(std::int64_t n, void* totals) = nullptr;  // with the identity
  void (*merge)(std::int64_t n, const void* from, void* totals) = nullptr;
  void (*store)(std::int64_t n, const void* totals, void* result) = nullptr;
  void (*run)(std::int64_t n, const void* source, void* total) = nullptr;
  // Reduces adjacent rows of n elements, each into its result.
  void (*each)(std::int64_t rows, std::int64_t n, const void* source, void* results) = nullptr;
  void (*rows)(std::int64_t rows, std::int64_t step, std::int64_t columns, const void* source, void* totals) = nullptr;
};

// `result`: the dtype itself; of sums and products of bools and integers narrower than 64 bits, also i64.
ReduceLoops reduce_loops(ir::ReduceFn fn, ir::DType dtype, ir::DType result);
inline ReduceLoops reduce_loops(ir::ReduceFn fn, ir::DType dtype) { return reduce_loops(fn, dtype, dtype); }

// For rows of n elements of f32: the sum of their products, each rounded before it is added, as reduce_loops(sum, f32)
// computes it for the products.
using DotLoop = void (*)(std::int64_t rows, std::int64_t n, const void* a, const void* b, void* results);
DotLoop dot_loop();

}  // namespace burn::backends::cpu
