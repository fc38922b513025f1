#include "backends/cpu/vector/elimination.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/isa/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/vector/elimination.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of n numbers: what is left over by whole vectors comes first.
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
    auto sum = hn::Mul(hn::MaskedLoad(mask_, d, x), hn::MaskedLoad(mask_, d, y));
    for (auto i = head_; i < n_; i += kLanes()) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }

 private:
  using D = hn::ScalableTag<T>;
  static HWY_INLINE std::int64_t kLanes() { return static_cast<std::int64_t>(hn::Lanes(D())); }

  const std::int64_t n_, head_;
  const hn::Mask<D> mask_;
};

template <typename T>
std::int32_t eliminate(std::int64_t rows, std::int64_t columns, T* a, std::int32_t* pivots, std::int64_t sides, T* b) {
  std::int32_t first_zero = 0;
  const Row<T> side(sides);
  for (std::int64_t k = 0; k < std::min(rows, columns); ++k) {
    std::int64_t largest = k;
    for (auto i = k + 1; i < rows; ++i) {
      if (std::abs(a[i * columns + k]) > std::abs(a[largest * columns + k])) largest = i;
    }
    pivots[k] = static_cast<std::int32_t>(largest + 1);
    T *row = a + k * columns, *row_of_b = b + k * sides;
    if (largest != k) {
      std::swap_ranges(row, row + columns, a + largest * columns);
      std::swap_ranges(row_of_b, row_of_b + sides, b + largest * sides);
    }
    const T pivot = row[k];
    if (pivot == 0) {  // and what is below it
      if (first_zero == 0) first_zero = static_cast<std::int32_t>(k + 1);
      continue;
    }
    const Row<T> rest(columns - k - 1);
    for (auto i = k + 1; i < rows; ++i) {
      T* other = a + i * columns;
      const T factor = other[k] / pivot;
      other[k] = factor;
      rest.subtract(factor, row + k + 1, other + k + 1);
      if (sides > 0) side.subtract(factor, row_of_b, b + i * sides);
    }
  }
  return first_zero;
}

template <typename T>
void substitute(std::int64_t n, const T* a, std::int64_t sides, T* b) {
  if (sides == 1) {
    for (auto i = n - 1; i >= 0; --i) {
      const T* row = a + i * n;
      b[i] = (b[i] - Row<T>(n - i - 1).dot(row + i + 1, b + i + 1)) / row[i];
    }
    return;
  }
  const Row<T> side(sides);
  for (auto i = n - 1; i >= 0; --i) {
    const T* row = a + i * n;
    T* result = b + i * sides;
    for (auto j = i + 1; j < n; ++j) side.subtract(row[j], b + j * sides, result);
    for (std::int64_t c = 0; c < sides; ++c) result[c] /= row[i];
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
  return runs_v3() ? *HWY_DYNAMIC_DISPATCH(of_float)() : *HWY_STATIC_DISPATCH(of_float)();
}
template <>
const Elimination<double>& elimination() {
  return runs_v3() ? *HWY_DYNAMIC_DISPATCH(of_double)() : *HWY_STATIC_DISPATCH(of_double)();
}

}  // namespace burn::backends::cpu
#endif
