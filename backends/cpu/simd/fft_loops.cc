#include "backends/cpu/simd/fft_loops.h"

#include <algorithm>

#include "backends/cpu/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/fft_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/simd/butterflies-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

// Calls body(tag, k) for vectors at k in [begin, end): whole ones, then vectors of four lanes, then single numbers.
template <typename T, typename Body>
HWY_INLINE void each_vector(std::int64_t begin, std::int64_t end, const Body& body) {
  const hn::ScalableTag<T> whole;
  const hn::CappedTag<T, 4> four;
  const hn::CappedTag<T, 1> one;
  const auto run = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; begin + lanes <= end; begin += lanes) body(d, begin);
  };
  run(whole);
  if constexpr (hn::MaxLanes(whole) > 4) run(four);
  run(one);
}

// --- passes ----------------------------------------------------------------------------------------------------------

template <int kFactor, Twiddling kTurned, typename D, typename T = hn::TFromD<D>>
HWY_INLINE void columns(D d, std::int64_t q, std::int64_t s, std::int64_t from_step, const T* cos, const T* sin,
                        const T* xr, const T* xi, T* yr, T* yi) {
  Complex<D> a[kFactor], b[kFactor];
  for (int j = 0; j < kFactor; ++j) a[j] = {hn::LoadU(d, xr + j * from_step + q), hn::LoadU(d, xi + j * from_step + q)};
  Butterfly<kFactor>::run(d, a, b);
  for (int k = 0; k < kFactor; ++k) {
    if constexpr (kTurned == Twiddling::uniform) {
      if (k > 0) b[k] = product(b[k], Complex<D>{hn::Set(d, cos[k]), hn::Set(d, sin[k])});
    } else if constexpr (kTurned == Twiddling::each) {
      b[k] = product(b[k], Complex<D>{hn::LoadU(d, cos + k * s + q), hn::LoadU(d, sin + k * s + q)});
    }
    hn::StoreU(b[k].re, d, yr + k * s + q);
    hn::StoreU(b[k].im, d, yi + k * s + q);
  }
}

template <int kFactor, typename T>
void pass(std::int64_t m, std::int64_t s, const T* cos, const T* sin, const T* turn_cos, const T* turn_sin, const T* xr,
          const T* xi, T* yr, T* yi) {
  if (turn_cos != nullptr) {
    return each_vector<T>(0, s, [&](auto d, std::int64_t q) HWY_ATTR {
      columns<kFactor, Twiddling::each>(d, q, s, s, turn_cos, turn_sin, xr, xi, yr, yi);
    });
  }
  each_vector<T>(0, s, [&](auto d, std::int64_t q) HWY_ATTR {
    columns<kFactor, Twiddling::none>(d, q, s, s * m, cos, sin, xr, xi, yr, yi);
  });
  for (std::int64_t p = 1; p < m; ++p) {
    const auto from = s * p, to = s * p * kFactor;
    each_vector<T>(0, s, [&](auto d, std::int64_t q) HWY_ATTR {
      columns<kFactor, Twiddling::uniform>(d, q, s, s * m, cos + p * kFactor, sin + p * kFactor, xr + from, xi + from,
                                           yr + to, yi + to);
    });
  }
}

template <typename T>
void turn(std::int64_t n, const T* cos, const T* sin, const T* xr, const T* xi, T* yr, T* yi) {
  each_vector<T>(0, n, [&](auto d, std::int64_t k) HWY_ATTR {
    using D = decltype(d);
    const auto y = product(Complex<D>{hn::LoadU(d, xr + k), hn::LoadU(d, xi + k)},
                           Complex<D>{hn::LoadU(d, cos + k), hn::LoadU(d, sin + k)});
    hn::StoreU(y.re, d, yr + k);
    hn::StoreU(y.im, d, yi + k);
  });
}

// --- moves -----------------------------------------------------------------------------------------------------------

#if HWY_TARGET != HWY_SCALAR

using Four = hn::CappedTag<float, 4>;

// The vector whose block b of four numbers is at x + b * step.
template <typename D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* x, std::int64_t step) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<D> half;
    const auto blocks = static_cast<std::int64_t>(hn::MaxLanes(half)) / 4;
    return hn::Combine(d, load_blocks(half, x + blocks * step, step), load_blocks(half, x, step));
  }
}

// Transposes four columns at x of as many rows as a vector has lanes. Within each block of four lanes, four vectors are
// transposed; the blocks are loaded where they belong.
HWY_INLINE void transpose_columns(const float* x, std::int64_t x_stride, float* y, std::int64_t y_stride) {
  const hn::ScalableTag<float> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto at = [&](int i) HWY_ATTR { return load_blocks(d, x + i * x_stride, 4 * x_stride); };
  const auto a = at(0), b = at(1), c = at(2), e = at(3);
  const auto ab = hn::BitCast(wide, hn::InterleaveLower(d, a, b)), cd = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ab2 = hn::BitCast(wide, hn::InterleaveUpper(d, a, b)),
             cd2 = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab, cd)), d, y);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab, cd)), d, y + y_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab2, cd2)), d, y + 2 * y_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab2, cd2)), d, y + 3 * y_stride);
}

#endif

template <typename T>
void transpose(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t x_stride, T* y,
               std::int64_t y_stride) {
  std::int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, float>) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
    for (; r + lanes <= rows; r += lanes) {
      std::int64_t c = 0;
      for (; c + 4 <= columns; c += 4) {
        transpose_columns(x + r * x_stride + c, x_stride, y + c * y_stride + r, y_stride);
      }
      for (; c < columns; ++c) {
        for (auto k = r; k < r + lanes; ++k) y[c * y_stride + k] = x[k * x_stride + c];
      }
    }
  }
#endif
  constexpr std::int64_t kTile = 8;
  for (; r < rows; r += kTile) {
    const auto last_row = std::min(r + kTile, rows);
    for (std::int64_t c = 0; c < columns; ++c) {
      for (auto k = r; k < last_row; ++k) y[c * y_stride + k] = x[k * x_stride + c];
    }
  }
}

template <typename T>
void split(std::int64_t n, const T* x, T* even, T* odd) {
  std::int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; k + lanes <= n; k += lanes) {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, x + 2 * k, a, b);
    hn::StoreU(a, d, even + k);
    hn::StoreU(b, d, odd + k);
  }
#endif
  for (; k < n; ++k) {
    even[k] = x[2 * k];
    odd[k] = x[2 * k + 1];
  }
}

template <typename T>
void join(std::int64_t n, const T* even, const T* odd, T* x) {
  std::int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; k + lanes <= n; k += lanes) hn::StoreInterleaved2(hn::LoadU(d, even + k), hn::LoadU(d, odd + k), d, x + 2 * k);
#endif
  for (; k < n; ++k) {
    x[2 * k] = even[k];
    x[2 * k + 1] = odd[k];
  }
}

// --- real lines ------------------------------------------------------------------------------------------------------

// Calls body(tag, k) for vectors at k from 1 on that do not overlap their mirror image, the numbers h - k and those
// before it, and then for single numbers up to the middle.
template <typename T, typename Body>
HWY_INLINE void each_pair(std::int64_t h, const Body& body) {
  const hn::ScalableTag<T> whole;
  const hn::CappedTag<T, 1> one;
  std::int64_t k = 1;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(whole));
  for (; k + lanes - 1 < h - k - lanes + 1; k += lanes) body(whole, k);
  for (; 2 * k <= h; ++k) body(one, k);
}

// The mirror image of the vector at k: the numbers from h - k down, in the order of k.
template <typename D, typename T>
HWY_INLINE hn::Vec<D> mirrored(D d, const T* x, std::int64_t h, std::int64_t k) {
  return hn::Reverse(d, hn::LoadU(d, x + h - k - static_cast<std::int64_t>(hn::Lanes(d)) + 1));
}
template <typename D, typename T>
HWY_INLINE void store_mirrored(D d, hn::Vec<D> v, T* x, std::int64_t h, std::int64_t k) {
  hn::StoreU(hn::Reverse(d, v), d, x + h - k - static_cast<std::int64_t>(hn::Lanes(d)) + 1);
}

// With E = (Z[k] + conj Z[h - k]) / 2 and O = -i e^(-pi i k / h) (Z[k] - conj Z[h - k]) / 2, X[h - k] = conj(E - O).
template <typename T>
void unpack_real(std::int64_t h, const T* cos, const T* sin, const T* zr, const T* zi, T* xr, T* xi) {
  xr[h] = zr[0] - zi[0];
  xr[0] = zr[0] + zi[0];
  xi[0] = xi[h] = 0;
  each_pair<T>(h, [&](auto d, std::int64_t k) HWY_ATTR {
    const auto half = hn::Set(d, T(0.5));
    const auto c = hn::LoadU(d, cos + k), w = hn::LoadU(d, sin + k);
    const auto ar = hn::Mul(half, hn::LoadU(d, zr + k)), ai = hn::Mul(half, hn::LoadU(d, zi + k));
    const auto br = hn::Mul(half, mirrored(d, zr, h, k)), bi = hn::Mul(half, mirrored(d, zi, h, k));
    const auto dr = hn::Sub(ar, br), di = hn::Add(ai, bi), er = hn::Add(ar, br), ei = hn::Sub(ai, bi);
    const auto tr = hn::MulAdd(c, di, hn::Mul(w, dr)), ti = hn::MulSub(w, di, hn::Mul(c, dr));
    store_mirrored(d, hn::Sub(er, tr), xr, h, k);
    store_mirrored(d, hn::Sub(ti, ei), xi, h, k);
    hn::StoreU(hn::Add(er, tr), d, xr + k);
    hn::StoreU(hn::Add(ei, ti), d, xi + k);
  });
}

// With A = X[k] + conj X[h - k] and B = i e^(pi i k / h) (X[k] - conj X[h - k]), Z[h - k] = conj(A - B).
template <typename T>
void pack_real(std::int64_t h, const T* cos, const T* sin, const T* xr, const T* xi, T* zr, T* zi) {
  zr[0] = xr[0] + xr[h];
  zi[0] = xr[0] - xr[h];
  each_pair<T>(h, [&](auto d, std::int64_t k) HWY_ATTR {
    const auto c = hn::LoadU(d, cos + k), w = hn::LoadU(d, sin + k);  // w: minus the sine
    const auto ar = hn::LoadU(d, xr + k), ai = hn::LoadU(d, xi + k);
    const auto br = mirrored(d, xr, h, k), bi = mirrored(d, xi, h, k);
    const auto dr = hn::Sub(ar, br), di = hn::Add(ai, bi), er = hn::Add(ar, br), ei = hn::Sub(ai, bi);
    const auto tr = hn::MulSub(w, dr, hn::Mul(c, di)), ti = hn::MulAdd(c, dr, hn::Mul(w, di));
    store_mirrored(d, hn::Sub(er, tr), zr, h, k);
    store_mirrored(d, hn::Sub(ti, ei), zi, h, k);
    hn::StoreU(hn::Add(er, tr), d, zr + k);
    hn::StoreU(hn::Add(ei, ti), d, zi + k);
  });
}

template <typename T>
constexpr FftLoops<T> kLoops = {&pass<2, T>,   &pass<3, T>, &pass<4, T>, &pass<5, T>,     &pass<8, T>,  &turn<T>,
                                &transpose<T>, &split<T>,   &join<T>,    &unpack_real<T>, &pack_real<T>};

const FftLoops<float>* of_float() { return &kLoops<float>; }
const FftLoops<double>* of_double() { return &kLoops<double>; }

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(of_float);
HWY_EXPORT(of_double);

template <>
const FftLoops<float>& fft_loops() {
  return *BURN_BEST_VECTORS(of_float)();
}
template <>
const FftLoops<double>& fft_loops() {
  return *BURN_BEST_VECTORS(of_double)();
}

}  // namespace burn::backends::cpu
#endif
