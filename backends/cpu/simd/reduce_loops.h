// Inner loops of reductions: one run of elements into one accumulator, or rows of elements into a row of accumulators.
//
// Sums and products of f32 and of the 16-bit floats are computed in float over blocks of at most a few thousand
// elements, spread over many lanes; blocks are combined in double. So the error does not grow with the number of
// elements.
#include "backends/cpu/simd/reduce_lanes.h"

namespace burn::backends::cpu::BURN_ISA {
namespace {

// Combines total[0] with n adjacent elements.
template <typename Op, typename T, typename R = T>
void reduce_run(std::int64_t n, const void* source, void* total) {
  using InBlock = Block<Op, T, R>;
  using InTotal = Total<Op, T, R>;
  constexpr bool kByHalves = std::is_same_v<Op, Sum> && !std::is_same_v<T, R> && sizeof(T) == 4;
  constexpr int kLanes = 128 / (kByHalves ? sizeof(T) : sizeof(InBlock));
  constexpr std::int64_t kBlockSize = 4096;
  static_assert(kBlockSize / kLanes <= 256);
  const auto* x = static_cast<const Stored<T>*>(source);
  auto sum = *static_cast<InTotal*>(total);
  // Hides the value from GCC, which would clear lanes of zeros by a call of memset, at a higher cost than a short run.
  const volatile InBlock opaque = Op::template identity<InBlock>();
  [[maybe_unused]] const InBlock identity = opaque;
  while (n >= kLanes) {
    const std::int64_t size = (n < kBlockSize ? n : kBlockSize) / kLanes * kLanes;
    if constexpr (kIsExtreme<Op, T>) {
      sum = Op::combine(sum, static_cast<InTotal>(extreme_of<Op, kLanes, T>(size, x, identity)));
    } else if constexpr (kByHalves) {
      sum += sum_by_halves<kLanes>(size, x);
    } else {
      InBlock lanes[kLanes];
      for (int l = 0; l < kLanes; ++l) lanes[l] = identity;
      for (std::int64_t i = 0; i < size; i += kLanes) {
        prefetch_next_page<kLanes, T>(x + i);
        for (int l = 0; l < kLanes; ++l)
          lanes[l] = Op::combine(lanes[l], static_cast<InBlock>(load_block<T>(x + i + l)));
      }
      sum = Op::combine(sum, total_of<Op, InTotal, kLanes>(lanes));
    }
    x += size;
    n -= size;
  }
  for (std::int64_t i = 0; i < n; ++i) sum = Op::combine(sum, static_cast<InTotal>(load_block<T>(x + i)));
  *static_cast<InTotal*>(total) = sum;
}

template <typename Op, typename T, typename R>
void reduce_each(std::int64_t rows, std::int64_t n, const void* source, void* results) {
  const auto* x = static_cast<const Stored<T>*>(source);
  auto* y = static_cast<Stored<R>*>(results);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto total = Op::template identity<Total<Op, T, R>>();
    reduce_run<Op, T, R>(n, x + row * n, &total);
    store_totals<Op, T, R>(1, &total, y + row);
  }
}

// The sum of products, each rounded: what reduce_run computes for the products, without storing them.
float sum_products(std::int64_t n, const float* a, const float* b) {
  constexpr int kLanes = 32;
  constexpr std::int64_t kBlockSize = 4096;
  double sum = 0;
  const volatile float opaque = 0;
  const float zero = opaque;
  while (n >= kLanes) {
    const std::int64_t size = (n < kBlockSize ? n : kBlockSize) / kLanes * kLanes;
    float lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = zero;
    for (std::int64_t i = 0; i < size; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
    }
    sum += static_cast<double>(fold_lanes<Sum, kLanes>(lanes));
    a += size;
    b += size;
    n -= size;
  }
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i] * b[i]);
  return static_cast<float>(sum);
}

void sum_products_each(std::int64_t rows, std::int64_t n, const void* first, const void* second, void* results) {
  const auto* a = static_cast<const float*>(first);
  const auto* b = static_cast<const float*>(second);
  for (std::int64_t row = 0; row < rows; ++row)
    static_cast<float*>(results)[row] = sum_products(n, a + row * n, b + row * n);
}

// Combines totals[c] with `rows` elements that are `step` apart. Requires: columns <= kMaxColumns.
template <typename Op, typename T, typename R>
void reduce_rows(std::int64_t rows, std::int64_t step, std::int64_t columns, const void* source, void* totals) {
  using InBlock = Block<Op, T, R>;
  using InTotal = Total<Op, T, R>;
  constexpr std::int64_t kBlockRows = 64;
  const auto* x = static_cast<const Stored<T>*>(source);
  const auto load = [](const Stored<T>* at) __attribute__((always_inline)) {
    return static_cast<InBlock>(load_block<T>(at));
  };
  auto* y = static_cast<InTotal*>(totals);
  InBlock block[kMaxColumns];
  while (rows > 0) {
    const std::int64_t size = rows < kBlockRows ? rows : kBlockRows;
    for (std::int64_t c = 0; c < columns; ++c) block[c] = load(x + c);
    std::int64_t r = 1;
    for (; r + 4 <= size; r += 4) {  // otherwise most of the time would go into loading and storing the totals
      const auto* row = x + r * step;
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto first = Op::combine(Op::combine(block[c], load(row + c)), load(row + step + c));
        block[c] = Op::combine(Op::combine(first, load(row + 2 * step + c)), load(row + 3 * step + c));
      }
    }
    for (; r < size; ++r) {
      const auto* row = x + r * step;
      for (std::int64_t c = 0; c < columns; ++c) block[c] = Op::combine(block[c], load(row + c));
    }
    for (std::int64_t c = 0; c < columns; ++c) y[c] = Op::combine(y[c], static_cast<InTotal>(block[c]));
    x += size * step;
    rows -= size;
  }
}

template <typename Op, typename T, typename R = T>
ReduceLoops loops_for() {
  return {.total_size = sizeof(Total<Op, T, R>),
          .fill = &fill_totals<Op, T, R>,
          .merge = &merge_totals<Op, T, R>,
          .store = &store_totals<Op, T, R>,
          .run = &reduce_run<Op, T, R>,
          .each = &reduce_each<Op, T, R>,
          .rows = &reduce_rows<Op, T, R>};
}

// Sums and products in the type of the elements.
template <typename Op, typename T>
ReduceLoops wrapping_loops_for() {
  if constexpr (std::is_same_v<T, bool>)
    return {};  // there are none for bools (ir::shape_rules)
  else
    return loops_for<Op, same_bits_t<Op, T>>();
}

inline ReduceLoops find_loops(ir::ReduceFn fn, ir::DType dtype, ir::DType result) {
  return ir::dispatch(dtype, [&]<typename T>() -> ReduceLoops {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(std::int64_t)) {
      if (result != dtype)
        return fn == ir::ReduceFn::sum ? loops_for<Sum, T, std::int64_t>() : loops_for<Prod, T, std::int64_t>();
    }
    switch (fn) {
      case ir::ReduceFn::sum:
        return wrapping_loops_for<Sum, T>();
      case ir::ReduceFn::prod:
        return wrapping_loops_for<Prod, T>();
      case ir::ReduceFn::max:
        return loops_for<Max, T>();
      case ir::ReduceFn::min:
        return loops_for<Min, T>();
    }
    return {};
  });
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
