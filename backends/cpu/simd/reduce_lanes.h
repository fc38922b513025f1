// What reductions compute in: the types of blocks and totals, the lanes of a block, and how lanes become one number.
#include "backends/cpu/simd/half_loops.h"

namespace burn::backends::cpu::BURN_ISA {
namespace {

// What an element is once it is read.
template <typename T>
using Element = std::conditional_t<std::is_same_v<T, bool>, unsigned char, ir::compute_t<T>>;

// Integers that hold the sum of 256 elements of T: no lane, and no column, adds more of them within a block.
template <typename T>
using SumOfMany = std::conditional_t<
    sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>,
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::int64_t>>;

// What a block is computed in, and what blocks are combined in.
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
constexpr bool kIsExtreme = (std::is_same_v<Op, Max> || std::is_same_v<Op, Min>)&&std::is_floating_point_v<Element<T>>;

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
      nan[l] |= v != v ? Flag{-1} : Flag{0};  // NOLINT(misc-redundant-expression): NaN alone differs from itself
    }
  }
  Flag any = 0;
  for (int l = 0; l < kLanes; ++l) any |= nan[l];
  if (any != 0) return std::numeric_limits<Element<T>>::quiet_NaN();
  for (int l = 0; l < kLanes; ++l) lanes[l] = extreme<Op>(others[l], lanes[l]);
  return fold_extremes<Op, kLanes>(lanes);
}

// All lanes of a block combined. Lanes of integers narrower than the total are added in a type that holds their sum.
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

// The sum of integers of 32 bits, by the sums of their lower and upper halves in 32 bits each: on its way to 64 bits
// every vector would be taken apart. Requires: size is a multiple of kLanes, and at most 2^15 times it.
template <int kLanes, typename T>
[[gnu::always_inline]] inline std::int64_t sum_by_halves(std::int64_t size, const T* x) {
  const volatile std::uint32_t opaque = 0;  // as in reduce_run
  const std::uint32_t zero = opaque;
  std::uint32_t lower[kLanes];
  T upper[kLanes];
  for (int l = 0; l < kLanes; ++l) lower[l] = zero;
  for (int l = 0; l < kLanes; ++l) upper[l] = static_cast<T>(zero);
  for (std::int64_t i = 0; i < size; i += kLanes) {
    ask_ahead<kLanes, T>(x + i);
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
