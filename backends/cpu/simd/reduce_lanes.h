// Types of reductions: those of blocks and totals, the lanes of a block, and how lanes are combined to one number.
#include "backends/cpu/simd/half_loops.h"

namespace burn::backends::cpu::BURN_ISA {
namespace {

// The type of an element after it is read.
template <typename T>
using Element = std::conditional_t<std::is_same_v<T, bool>, unsigned char, ir::compute_t<T>>;

// Integers that hold the sum of 256 elements of T: no lane, and no column, adds more within a block.
template <typename T>
using SumOfMany = std::conditional_t<
    sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>,
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::int64_t>>;

// The type that a block is computed in, and the type that blocks are combined in.
template <typename Op, typename T, typename R = T>
using Block =
    std::conditional_t<std::is_same_v<T, R>, Element<T>, std::conditional_t<std::is_same_v<Op, Sum>, SumOfMany<T>, R>>;

template <typename Op, typename T, typename R = T>
using Total =
    std::conditional_t<std::is_same_v<T, R>,
                       std::conditional_t<Op::kWidens && std::is_same_v<Element<T>, float>, double, Element<T>>, R>;

template <typename T>
[[gnu::always_inline]] inline Element<T> load_block(const Stored<T>* x) {
  if constexpr (std::is_same_v<T, bool>)
    return *x != 0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return widen(*x);
  else
    return *x;
}

template <typename Op, typename T, typename R>
void fill_totals(std::int64_t n, void* totals) {
  std::fill_n(static_cast<Total<Op, T, R>*>(totals), n, Op::template identity<Total<Op, T, R>>());
}

template <typename Op, typename T, typename R>
void merge_totals(std::int64_t n, const void* from, void* totals) {
  const auto* x = static_cast<const Total<Op, T, R>*>(from);
  auto* y = static_cast<Total<Op, T, R>*>(totals);
  for (std::int64_t i = 0; i < n; ++i) y[i] = Op::combine(y[i], x[i]);
}

template <typename Op, typename T, typename R>
void store_totals(std::int64_t n, const void* totals, void* result) {
  const auto* x = static_cast<const Total<Op, T, R>*>(totals);
  auto* y = static_cast<Stored<R>*>(result);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<R, Half> || std::is_same_v<R, BFloat16>)
      y[i] = narrow<R>(static_cast<float>(x[i]));
    else if constexpr (std::is_same_v<R, bool>)
      y[i] = x[i] != 0;
    else
      y[i] = static_cast<R>(x[i]);
  }
}

// Combines the first `kWidth` lanes into the first, by halves. Every width is known to the compiler, so lanes stay in
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

// Prefetches data one page ahead: the processor's own prefetchers stop at the end of a page, and a pass that only reads
// would wait there.
template <int kCount, typename T>
[[gnu::always_inline]] inline void prefetch_next_page(const Stored<T>* x) {
  constexpr int kPage = 4096, kLine = 64;
  const auto* bytes = reinterpret_cast<const char*>(x) + kPage;
  for (int at = 0; at < kCount * static_cast<int>(sizeof(Stored<T>)); at += kLine) __builtin_prefetch(bytes + at);
}

template <typename Op, typename T>
constexpr bool kIsExtreme = (std::is_same_v<Op, Max> || std::is_same_v<Op, Min>)&&std::is_floating_point_v<Element<T>>;

// The larger or smaller of two numbers, neither of them NaN: one instruction of the processor.
template <typename Op, typename T>
[[gnu::always_inline]] inline T extreme(T a, T b) {
  if constexpr (std::is_same_v<Op, Max>)
    return a > b ? a : b;
  else
    return a < b ? a : b;
}

#ifdef __SANITIZE_ADDRESS__
// GCC 12 assumes that arrays of 64 bytes on that sanitizer's stack are aligned, which they are not.
constexpr bool kFoldsVectors = false;
#else
constexpr bool kFoldsVectors = true;
#endif

// By halves, as vectors: GCC would compute an unrolled loop lane by lane.
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

// The largest or smallest of x; NaN if there is one, which is checked separately, two numbers at a time. NaN is never
// larger or smaller, so lanes contain none.
template <typename Op, int kLanes, typename T>
[[gnu::always_inline]] inline Element<T> extreme_of(std::int64_t size, const Stored<T>* x, Element<T> identity) {
  using Flag = std::conditional_t<sizeof(Element<T>) == 8, std::int64_t, std::int32_t>;
  const volatile Flag opaque = 0;
  const Flag none = opaque;
  Flag nan[kLanes];
  Element<T> lanes[kLanes], others[kLanes];
  for (int l = 0; l < kLanes; ++l) nan[l] = none;
  for (int l = 0; l < kLanes; ++l) lanes[l] = others[l] = identity;
  std::int64_t i = 0;
  constexpr std::int64_t kBoth = std::int64_t{2} * kLanes;
  for (; i + kBoth <= size; i += kBoth) {
    prefetch_next_page<2 * kLanes, T>(x + i);
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
      nan[l] |= v != v ? Flag{-1} : Flag{0};  // NOLINT(misc-redundant-expression): NaN alone differs from itself
    }
  }
  Flag any = 0;
  for (int l = 0; l < kLanes; ++l) any |= nan[l];
  if (any != 0) return std::numeric_limits<Element<T>>::quiet_NaN();
  for (int l = 0; l < kLanes; ++l) lanes[l] = extreme<Op>(others[l], lanes[l]);
  return fold_extremes<Op, kLanes>(lanes);
}

// Combines all lanes of a block. Lanes of integers narrower than the total are added in a type that holds their sum.
template <typename Op, typename TotalType, int kLanes, typename T>
[[gnu::always_inline]] inline TotalType total_of(T* lanes) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(TotalType)) {
    std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t> sum = 0;
    for (int l = 0; l < kLanes; ++l) sum += lanes[l];
    return sum;
  } else {
    return static_cast<TotalType>(fold_lanes<Op, kLanes>(lanes));
  }
}

// The sum of 32-bit integers, from the sums of their lower and upper halves in 32 bits each: converting to 64 bits
// would split every vector. Requires: size is a multiple of kLanes, and at most 2^15 times it.
template <int kLanes, typename T>
[[gnu::always_inline]] inline std::int64_t sum_by_halves(std::int64_t size, const T* x) {
  const volatile std::uint32_t opaque = 0;  // as in reduce_run
  const std::uint32_t zero = opaque;
  std::uint32_t lower[kLanes];
  T upper[kLanes];
  for (int l = 0; l < kLanes; ++l) lower[l] = zero;
  for (int l = 0; l < kLanes; ++l) upper[l] = static_cast<T>(zero);
  for (std::int64_t i = 0; i < size; i += kLanes) {
    prefetch_next_page<kLanes, T>(x + i);
    for (int l = 0; l < kLanes; ++l) {
      lower[l] += static_cast<std::uint32_t>(x[i + l]) & 0xffffu;
      upper[l] += x[i + l] >> 16;
    }
  }
  std::int64_t low = 0, high = 0;
  for (int l = 0; l < kLanes; ++l) low += lower[l];
  for (int l = 0; l < kLanes; ++l) high += upper[l];
  return low + high * 65536;
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
