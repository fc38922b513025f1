// Discrete Fourier transforms of any length: by factors up to 31, or, for lengths with larger factors, as a convolution
// (Bluestein's algorithm, IEEE Trans. Audio Electroacoust. 18, 1970). n log n steps in either case.
//
// Several signals may be transformed side by side: element j of signal v is at [j * width + v]. For short signals that
// fills the vectors of the processor. A long signal is faster alone, so that all of it stays in the nearest cache: as a
// matrix, whose columns are transformed side by side, multiplied by twiddle factors, and transposed for its rows
// (Bailey, J. Supercomputing 4, 1990). A plan is immutable; any number of threads may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace burn::backends::cpu {

// Complex numbers as two arrays.
template <typename T>
struct SplitComplex {
  T *re, *im;

  SplitComplex swapped() const { return {im, re}; }
};

// Distance between arrays of n numbers that are used together, so that they do not conflict: arrays a multiple of 4096
// bytes apart do, in the cache and in the processor's ordering of loads and stores.
constexpr std::int64_t padded_stride(std::int64_t n) { return (n + 15) / 16 * 16 + 16; }

// Cosines and sines, in two arrays that are padded_stride() apart.
template <typename T>
class Roots {
 public:
  Roots() = default;
  explicit Roots(std::int64_t n) : step_(padded_stride(n)), numbers_(static_cast<std::size_t>(step_ + n)) {}

  void push_back(double cos, double sin) {
    numbers_[static_cast<std::size_t>(size_)] = static_cast<T>(cos);
    numbers_[static_cast<std::size_t>(step_ + size_++)] = static_cast<T>(sin);
  }
  const T* cos() const { return numbers_.data(); }
  const T* sin() const { return numbers_.data() + step_; }

 private:
  std::int64_t step_ = 0, size_ = 0;
  std::vector<T> numbers_;
};

// T: float or double. Tables are computed in double.
template <typename T>
class FftPlan {
 public:
  explicit FftPlan(std::int64_t n);

  // Bytes that a plan of this length keeps, and the maximum while it is made.
  static std::uint64_t kept_bytes(std::int64_t n);
  static std::uint64_t needed_bytes(std::int64_t n);

  std::int64_t size() const { return n_; }
  bool prefers_single() const;  // signal at a time
  // Numbers of workspace that run() needs for this many signals.
  std::int64_t room(std::int64_t width) const;
  // The forward transform. Returns where the result is: in x or in the room. For the backward transform, exchange real
  // and imaginary parts of operand and result.
  SplitComplex<T> run(SplitComplex<T> x, std::int64_t width, T* room) const;

 private:
  struct Pass {  // of a transform of length `size`: `factor` shorter ones
    std::int64_t factor, size;
    Roots<T> roots;                     // [size / factor, factor]: e^(-2 pi i p k / size)
    std::vector<T> root_cos, root_sin;  // [factor]: e^(-2 pi i k / factor)
  };
  using Passes = std::vector<Pass>;
  struct Matrix {  // x[i columns + j] is element (i, j)
    std::int64_t rows, columns;
    Passes of_columns, of_rows;
    Roots<T> roots;  // [rows, columns]: e^(-2 pi i k j / n), result k of column j
  };
  struct Chirp {
    FftPlan convolution;                      // of a length that has small factors
    std::vector<T> cos, sin;                  // [n]: e^(-pi i k^2 / n)
    std::vector<T> response_re, response_im;  // the transform of its conjugate, over the length
  };

  static Passes passes_of(std::int64_t n);
  void make_matrix(std::int64_t rows);
  void make_chirp(std::int64_t length);
  SplitComplex<T> convolve(SplitComplex<T> x, std::int64_t width, T* room) const;

  std::int64_t n_;
  Passes passes_;                         // for several side by side; none with a chirp
  std::unique_ptr<const Matrix> matrix_;  // for one alone, if it is long
  std::unique_ptr<const Chirp> chirp_;
};

}  // namespace burn::backends::cpu
