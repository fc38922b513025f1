#include "backends/cpu/simd/elimination.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "backends/cpu/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/elimination.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Operations on rows of n numbers: the remainder that does not fill a vector comes first.
template <typename T>
class Row {
 public:
  explicit Row(std::int64_t n)
      : n_(n), head_(n % kLanes()), mask_(hn::FirstN(D(), static_cast<std::size_t>(n % kLanes()))) {}

  // y -= factor x.
  HWY_INLINE void subtract(T factor, const T* x, T* y) const {
    const D d;
    const auto f = hn::Set(d, factor);
    if (head_ > 0)
      hn::BlendedStore(hn::NegMulAdd(f, hn::MaskedLoad(mask_, d, x), hn::MaskedLoad(mask_, d, y)), mask_, d, y);
    for (auto i = head_; i < n_; i += kLanes())
      hn::StoreU(hn::NegMulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  }

  HWY_INLINE T dot(const T* x, const T* y) const {
    const D d;
    // Not with an empty mask: the scalar form of a masked load would still read the element, and there may be none.
    auto sum = head_ > 0 ? hn::Mul(hn::MaskedLoad(mask_, d, x), hn::MaskedLoad(mask_, d, y)) : hn::Zero(d);
    for (auto i = head_; i < n_; i += kLanes()) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }

 private:
  using D = hn::ScalableTag<T>;
  static HWY_INLINE std::int64_t kLanes() { return static_cast<std::int64_t>(hn::Lanes(D())); }

  const std::int64_t n_, head_;
  const hn::Mask<D> mask_;
};

// The rows of a matrix, `stride` apart.
template <typename T>
struct Rows {
  T* data;
  std::int64_t stride;
  HWY_INLINE T* operator[](std::int64_t i) const { return data + i * stride; }
};

// Subtracts the product of kRows rows of l and `depth` rows of u from kRows rows of c by kVectors vectors, in
// registers.
template <int kRows, int kVectors, bool kMasked, typename D, typename T = hn::TFromD<D>>
HWY_INLINE void subtract_tile(D d, hn::Mask<D> mask, std::int64_t depth, Rows<const T> l, Rows<const T> u, Rows<T> c) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto load = [&](const T* x) HWY_ATTR {
    if constexpr (kMasked)
      return hn::MaskedLoad(mask, d, x);
    else
      return hn::LoadU(d, x);
  };
  hn::Vec<D> sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r][v] = load(c[r] + v * lanes);
  }
  for (std::int64_t p = 0; p < depth; ++p) {
    hn::Vec<D> x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = load(u[p] + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, l[r][p]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::NegMulAdd(factor, x[v], sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kMasked)
        hn::BlendedStore(sums[r][v], mask, d, c[r] + v * lanes);
      else
        hn::StoreU(sums[r][v], d, c[r] + v * lanes);
    }
  }
}

// c [rows, columns] -= l [rows, depth] u [depth, columns].
template <typename T>
void subtract_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Rows<const T> l, Rows<const T> u,
                      Rows<T> c) {
  const hn::ScalableTag<T> d;
  using D = hn::ScalableTag<T>;
  if (depth == 0) return;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto rest = hn::FirstN(d, static_cast<std::size_t>(columns % lanes));
  const auto each_row = [&](std::int64_t j, auto vectors, auto masked) HWY_ATTR {
    const Rows<const T> from{u.data + j, u.stride};
    std::int64_t i = 0;
    for (; i + 4 <= rows; i += 4)
      subtract_tile<4, decltype(vectors)::value, decltype(masked)::value, D>(d, rest, depth, {l[i], l.stride}, from,
                                                                             {c[i] + j, c.stride});
    for (; i < rows; ++i)
      subtract_tile<1, decltype(vectors)::value, decltype(masked)::value, D>(d, rest, depth, {l[i], l.stride}, from,
                                                                             {c[i] + j, c.stride});
  };
  constexpr std::integral_constant<int, 1> kOne{};
  constexpr std::integral_constant<int, 2> kTwo{};
  std::int64_t j = 0;
  if (columns % lanes > 0) {
    each_row(0, kOne, std::true_type{});
    j = columns % lanes;
  }
  for (; j + 2 * lanes <= columns; j += 2 * lanes) each_row(j, kTwo, std::false_type{});
  if (j < columns) each_row(j, kOne, std::false_type{});
}

// Columns that are eliminated one by one before the columns to their right are updated.
constexpr std::int64_t kPanel = 16;

// Updates the columns `behind` a panel: rows [begin, end), where the panel has its diagonal, and all rows below.
template <typename T>
void finish_panel(std::int64_t rows, std::int64_t begin, std::int64_t end, Rows<const T> a, std::int64_t columns,
                  Rows<T> behind) {
  const Row<T> row(columns);
  for (auto k = begin; k < end; ++k) {
    for (auto i = k + 1; i < end; ++i) row.subtract(a[i][k], behind[k], behind[i]);
  }
  subtract_product<T>(rows - end, columns, end - begin, {a[end] + begin, a.stride}, {behind[begin], behind.stride},
                      {behind[end], behind.stride});
}

template <typename T>
std::int32_t eliminate(std::int64_t rows, std::int64_t columns, T* matrix, std::int32_t* pivots, std::int64_t sides,
                       T* b) {
  std::int32_t first_zero = 0;
  const Rows<T> a{matrix, columns};
  const auto least = std::min(rows, columns);
  for (std::int64_t begin = 0; begin < least; begin += kPanel) {
    const auto end = std::min(begin + kPanel, least);
    for (auto k = begin; k < end; ++k) {
      std::int64_t largest = k;
      T size = std::abs(a[k][k]);
      for (auto i = k + 1; i < rows; ++i) {
        const T other = std::abs(a[i][k]);
        largest = other > size ? i : largest;
        size = other > size ? other : size;
      }
      pivots[k] = static_cast<std::int32_t>(largest + 1);
      if (largest != k) {
        std::swap_ranges(a[k], a[k] + columns, a[largest]);
        std::swap_ranges(b + k * sides, b + (k + 1) * sides, b + largest * sides);
      }
      const T pivot = a[k][k];
      if (pivot == 0) {  // and all elements below it
        if (first_zero == 0) first_zero = static_cast<std::int32_t>(k + 1);
        continue;
      }
      const Row<T> rest(end - k - 1);
      for (auto i = k + 1; i < rows; ++i) {
        const T factor = a[i][k] / pivot;
        a[i][k] = factor;
        rest.subtract(factor, a[k] + k + 1, a[i] + k + 1);
      }
    }
    const Rows<const T> panel{matrix, columns};
    finish_panel<T>(rows, begin, end, panel, columns - end, {matrix + end, columns});
    if (sides > 0) finish_panel<T>(rows, begin, end, panel, sides, {b, sides});
  }
  return first_zero;
}

template <typename T>
void substitute(std::int64_t n, const T* matrix, std::int64_t sides, T* b) {
  const Rows<const T> a{matrix, n};
  if (sides == 1) {
    for (auto i = n - 1; i >= 0; --i) b[i] = (b[i] - Row<T>(n - i - 1).dot(a[i] + i + 1, b + i + 1)) / a[i][i];
    return;
  }
  const Row<T> side(sides);
  const Rows<T> x{b, sides};
  for (auto end = n; end > 0;) {
    const auto begin = (end - 1) / kPanel * kPanel;
    subtract_product<T>(end - begin, sides, n - end, {a[begin] + end, n}, {x[end], sides}, {x[begin], sides});
    for (auto i = end - 1; i >= begin; --i) {
      for (std::int64_t c = 0; c < sides; ++c) x[i][c] /= a[i][i];
      for (auto j = begin; j < i; ++j) side.subtract(a[j][i], x[i], x[j]);
    }
    end = begin;
  }
}

template <typename T>
constexpr Elimination<T> kLoops = {&eliminate<T>, &substitute<T>};

const Elimination<float>* of_float() { return &kLoops<float>; }
const Elimination<double>* of_double() { return &kLoops<double>; }

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(of_float);
HWY_EXPORT(of_double);

template <>
const Elimination<float>& elimination() {
  return *BURN_BEST_VECTORS(of_float)();
}
template <>
const Elimination<double>& elimination() {
  return *BURN_BEST_VECTORS(of_double)();
}

}  // namespace burn::backends::cpu
#endif
