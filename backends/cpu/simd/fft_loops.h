// The inner loops of Fourier transforms, for the widest vectors of this machine. Complex numbers are stored as two
// arrays, real and imaginary parts; e^(-i a) is passed as cos = cos a and sin = -sin a. Operands and results must not
// overlap unless stated here, and need no alignment.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// T: float or double.
template <typename T>
struct FftLoops {
  // One pass of Stockham's algorithm over rows of `s` numbers: `factor` rows of x, m apart, become `factor` adjacent
  // rows of y. cos, sin [m, factor]: the factor of result k of place p, 1 for p = 0. turn_cos, turn_sin [factor, s],
  // null or with m = 1: factors by which the results are multiplied last.
  using Pass = void (*)(std::int64_t m, std::int64_t s, const T* cos, const T* sin, const T* turn_cos,
                        const T* turn_sin, const T* xr, const T* xi, T* yr, T* yi);
  Pass pass_of_2, pass_of_3, pass_of_4, pass_of_5, pass_of_8;

  // y[k] = x[k] (cos[k] + i sin[k]); y may be x.
  void (*turn)(std::int64_t n, const T* cos, const T* sin, const T* xr, const T* xi, T* yr, T* yi);
  // y[c * y_stride + r] = x[r * x_stride + c].
  void (*transpose)(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t x_stride, T* y,
                    std::int64_t y_stride);
  // even[k] = x[2 k], odd[k] = x[2 k + 1], and back.
  void (*split)(std::int64_t n, const T* x, T* even, T* odd);
  void (*join)(std::int64_t n, const T* even, const T* odd, T* x);

  // 2 h real numbers are treated as h complex ones, z[j] = x[2j] + i x[2j + 1]. Computes from their transform Z the
  // transform of x, which has h + 1 numbers: with Z[h] = Z[0], X[k] = (Z[k] + conj Z[h - k]) / 2 - i e^(-pi i k / h)
  // (Z[k] - conj Z[h - k]) / 2. cos, sin: of pi k / h.
  void (*unpack_real)(std::int64_t h, const T* cos, const T* sin, const T* zr, const T* zi, T* xr, T* xi);
  // The inverse: Z[k] = X[k] + conj X[h - k] + i e^(pi i k / h) (X[k] - conj X[h - k]). The ends of X are taken as
  // real.
  void (*pack_real)(std::int64_t h, const T* cos, const T* sin, const T* xr, const T* xi, T* zr, T* zi);
};

template <typename T>
const FftLoops<T>& fft_loops();

}  // namespace burn::backends::cpu
