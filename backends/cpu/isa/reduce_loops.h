// Inner loops of reductions: one run of elements into one accumulator, or rows of elements into a row of accumulators.
//
// Sums and products of f32 and of the 16-bit floats run in float over blocks of at most a few thousand elements, spread
// over many lanes; blocks are combined in double. So an error does not grow with the number of elements.
#include "backends/cpu/isa/half_loops.h"

namespace burn::backends::cpu::BURN_ISA {
namespace {

// What a block is computed in, and what blocks are combined in.
template <typename T>
using Block = std::conditional_t<std::is_same_v<T, bool>, unsigned char, ir::compute_t<T>>;

template <typename Op, typename T>
using Total = std::conditional_t<Op::kWidens && std::is_same_v<Block<T>, float>, double, Block<T>>;

template <typename T>
[[gnu::always_inline]] inline Block<T> load_block(const Stored<T>* x) {
  if constexpr (std::is_same_v<T, bool>)
    return *x != 0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return widen(*x);
  else
    return *x;
}

template <typename Op, typename T>
void fill_totals(std::int64_t n, void* totals) {
  std::fill_n(static_cast<Total<Op, T>*>(totals), n, Op::template identity<Total<Op, T>>());
}

template <typename Op, typename T>
void merge_totals(std::int64_t n, const void* from, void* totals) {
  const auto* x = static_cast<const Total<Op, T>*>(from);
  auto* y = static_cast<Total<Op, T>*>(totals);
  for (std::int64_t i = 0; i < n; ++i) y[i] = Op::combine(y[i], x[i]);
}

template <typename Op, typename T>
void store_totals(std::int64_t n, const void* totals, void* result) {
  const auto* x = static_cast<const Total<Op, T>*>(totals);
  auto* y = static_cast<Stored<T>*>(result);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      y[i] = narrow<T>(static_cast<float>(x[i]));
    else if constexpr (std::is_same_v<T, bool>)
      y[i] = x[i] != 0;
    else
      y[i] = static_cast<T>(x[i]);
  }
}

// The first `kWidth` lanes combined into the first, in halves. Every width is known to the compiler, so lanes stay in
// registers.
template <typename Op, int kWidth, typename T>
[[gnu::always_inline]] inline T fold_lanes(T* lanes) {
  if constexpr (kWidth > 1) {
    for (int l = 0; l < kWidth / 2; ++l) lanes[l] = Op::combine(lanes[l], lanes[l + kWidth / 2]);
    return fold_lanes<Op, kWidth / 2>(lanes);
  } else {
    return lanes[0];
  }
}

// Asks for what lies a page further on: the processor's own prefetchers stop where a page ends, and a pass that only
// reads would wait there.
template <int kCount, typename T>
[[gnu::always_inline]] inline void ask_ahead(const Stored<T>* x) {
  constexpr int kPage = 4096, kLine = 64;
  const auto* bytes = reinterpret_cast<const char*>(x) + kPage;
  for (int at = 0; at < kCount * static_cast<int>(sizeof(Stored<T>)); at += kLine) __builtin_prefetch(bytes + at);
}

template <typename Op, typename T>
constexpr bool kIsExtreme = (std::is_same_v<Op, Max> || std::is_same_v<Op, Min>)&&std::is_floating_point_v<Block<T>>;

// Of two numbers that are none of them NaN: one instruction of the processor's.
template <typename Op, typename T>
[[gnu::always_inline]] inline T extreme(T a, T b) {
  if constexpr (std::is_same_v<Op, Max>)
    return a > b ? a : b;
  else
    return a < b ? a : b;
}

#ifdef __SANITIZE_ADDRESS__
// GCC 12 takes arrays of 64 bytes on that sanitizer's stack to be aligned, which they are not.
constexpr bool kFoldsVectors = false;
#else
constexpr bool kFoldsVectors = true;
#endif

// In halves, as vectors: GCC takes lane by lane what it unrolls.
template <typename Op, int kWidth, typename T>
[[gnu::always_inline]] inline T fold_extremes(T* lanes) {
  if constexpr (kFoldsVectors && kWidth > 4) {
    using Half [[gnu::vector_size(kWidth / 2 * sizeof(T))]] = T;
    Half a, b;
    __builtin_memcpy(&a, lanes, sizeof a);
    __builtin_memcpy(&b, lanes + kWidth / 2, sizeof b);
    if constexpr (std::is_same_v<Op, Max>)
      a = b > a ? b : a;
    else
      a = b < a ? b : a;
    __builtin_memcpy(lanes, &a, sizeof a);
    return fold_extremes<Op, kWidth / 2>(lanes);
  } else {
    T best = lanes[0];
    for (int l = 1; l < kWidth; ++l) best = extreme<Op>(lanes[l], best);
    return best;
  }
}

// The largest or smallest of x; NaN if there is one, which is looked for beside, two numbers at a time. What is no
// number is never larger or smaller, so lanes have none.
template <typename Op, int kLanes, typename T>
[[gnu::always_inline]] inline Block<T> extreme_of(std::int64_t size, const Stored<T>* x, Block<T> identity) {
  using Flag = std::conditional_t<sizeof(Block<T>) == 8, std::int64_t, std::int32_t>;
  const volatile Flag opaque = 0;
  const Flag none = opaque;
  Flag nan[kLanes];
  Block<T> lanes[kLanes], others[kLanes];
  for (int l = 0; l < kLanes; ++l) nan[l] = none;
  for (int l = 0; l < kLanes; ++l) lanes[l] = others[l] = identity;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    ask_ahead<2 * kLanes, T>(x + i);
    for (int l = 0; l < kLanes; ++l) {
      const auto v = load_block<T>(x + i + l), w = load_block<T>(x + i + kLanes + l);
      lanes[l] = extreme<Op>(v, lanes[l]);
      others[l] = extreme<Op>(w, others[l]);
      nan[l] |= __builtin_isunordered(v, w) ? Flag{-1} : Flag{0};
    }
  }
  for (; i < size; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const auto v = load_block<T>(x + i + l);
      lanes[l] = extreme<Op>(v, lanes[l]);
      nan[l] |= v != v ? Flag{-1} : Flag{0};
    }
  }
  Flag any = 0;
  for (int l = 0; l < kLanes; ++l) any |= nan[l];
  if (any != 0) return std::numeric_limits<Block<T>>::quiet_NaN();
  for (int l = 0; l < kLanes; ++l) lanes[l] = extreme<Op>(others[l], lanes[l]);
  return fold_extremes<Op, kLanes>(lanes);
}

// total[0] combined with n elements side by side.
template <typename Op, typename T>
void reduce_run(std::int64_t n, const void* source, void* total) {
  constexpr int kLanes = 128 / sizeof(Block<T>);
  constexpr std::int64_t kBlockSize = 4096;
  const auto* x = static_cast<const Stored<T>*>(source);
  auto sum = *static_cast<Total<Op, T>*>(total);
  // Not known to be zero: GCC would clear the lanes by a call of memset, which costs more than a short run.
  const volatile Block<T> opaque = Op::template identity<Block<T>>();
  const Block<T> identity = opaque;
  while (n >= kLanes) {
    const std::int64_t size = (n < kBlockSize ? n : kBlockSize) / kLanes * kLanes;
    if constexpr (kIsExtreme<Op, T>) {
      sum = Op::combine(sum, static_cast<Total<Op, T>>(extreme_of<Op, kLanes, T>(size, x, identity)));
    } else {
      Block<T> lanes[kLanes];
      for (int l = 0; l < kLanes; ++l) lanes[l] = identity;
      for (std::int64_t i = 0; i < size; i += kLanes) {
        ask_ahead<kLanes, T>(x + i);
        for (int l = 0; l < kLanes; ++l) lanes[l] = Op::combine(lanes[l], load_block<T>(x + i + l));
      }
      sum = Op::combine(sum, static_cast<Total<Op, T>>(fold_lanes<Op, kLanes>(lanes)));
    }
    x += size;
    n -= size;
  }
  for (std::int64_t i = 0; i < n; ++i) sum = Op::combine(sum, static_cast<Total<Op, T>>(load_block<T>(x + i)));
  *static_cast<Total<Op, T>*>(total) = sum;
}

template <typename Op, typename T>
void reduce_each(std::int64_t rows, std::int64_t n, const void* source, void* results) {
  const auto* x = static_cast<const Stored<T>*>(source);
  auto* y = static_cast<Stored<T>*>(results);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto total = Op::template identity<Total<Op, T>>();
    reduce_run<Op, T>(n, x + row * n, &total);
    store_totals<Op, T>(1, &total, y + row);
  }
}

// The sum of products, each rounded: what reduce_run gives for the products, without storing them.
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

// totals[c] combined with `rows` elements that are `step` apart. Requires: columns <= kMaxColumns.
template <typename Op, typename T>
void reduce_rows(std::int64_t rows, std::int64_t step, std::int64_t columns, const void* source, void* totals) {
  constexpr std::int64_t kBlockRows = 64;
  const auto* x = static_cast<const Stored<T>*>(source);
  auto* y = static_cast<Total<Op, T>*>(totals);
  Block<T> block[kMaxColumns];
  while (rows > 0) {
    const std::int64_t size = rows < kBlockRows ? rows : kBlockRows;
    for (std::int64_t c = 0; c < columns; ++c) block[c] = load_block<T>(x + c);
    std::int64_t r = 1;
    for (; r + 4 <= size; r += 4) {  // or most of the time would go into loading and storing the totals
      const auto* row = x + r * step;
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto first = Op::combine(Op::combine(block[c], load_block<T>(row + c)), load_block<T>(row + step + c));
        block[c] =
            Op::combine(Op::combine(first, load_block<T>(row + 2 * step + c)), load_block<T>(row + 3 * step + c));
      }
    }
    for (; r < size; ++r) {
      const auto* row = x + r * step;
      for (std::int64_t c = 0; c < columns; ++c) block[c] = Op::combine(block[c], load_block<T>(row + c));
    }
    for (std::int64_t c = 0; c < columns; ++c) y[c] = Op::combine(y[c], static_cast<Total<Op, T>>(block[c]));
    x += size * step;
    rows -= size;
  }
}

template <typename Op, typename T>
ReduceLoops loops_for() {
  return {.total_size = sizeof(Total<Op, T>),
          .fill = &fill_totals<Op, T>,
          .merge = &merge_totals<Op, T>,
          .store = &store_totals<Op, T>,
          .run = &reduce_run<Op, T>,
          .each = &reduce_each<Op, T>,
          .rows = &reduce_rows<Op, T>};
}

ReduceLoops find_loops(ir::ReduceFn fn, ir::DType dtype) {
  return ir::dispatch(dtype, [fn]<typename T>() -> ReduceLoops {
    switch (fn) {
      case ir::ReduceFn::sum:
        return loops_for<Sum, T>();
      case ir::ReduceFn::prod:
        return loops_for<Prod, T>();
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
