// The discrete Fourier transform of one length, of any: by factors up to 31, and of lengths with larger ones as a
// convolution (Bluestein's algorithm, IEEE Trans. Audio Electroacoust. 18, 1970). n log n steps in either case.
//
// Several signals may be transformed side by side: element j of signal v is at [j * width + v]. That fills the vectors
// of the processor in passes over short ones. A long one is better off alone, where all of it stays in the nearest
// cache: as a matrix, whose columns are transformed side by side, turned, and transposed for its rows (Bailey, J.
// Supercomputing 4, 1990). A plan is immutable; any number of threads may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace burn::backends::cpu {

// Complex numbers as two arrays.
template <typename T>
struct Parts {
  T *re, *im;

  Parts swapped() const { return {im, re}; }
};

// Numbers between arrays of n that are used together, and do not get into each other's way: arrays a multiple of 4096
// bytes apart do, in the cache and in the processor's order of loads and stores.
constexpr std::int64_t apart(std::int64_t n) { return (n + 15) / 16 * 16 + 16; }

// Cosines and sines, in two arrays that are apart().
template <typename T>
class Roots {
 public:
  Roots() = default;
  explicit Roots(std::int64_t n) : step_(apart(n)), numbers_(static_cast<std::size_t>(step_ + n)) {}

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

  // Bytes that a plan of this length keeps, and that there are at most while it is made.
  static std::uint64_t kept_bytes(std::int64_t n);
  static std::uint64_t needed_bytes(std::int64_t n);

  std::int64_t size() const { return n_; }
  bool wants_one() const;  // at a time
  // Numbers of room that run() wants, for this many signals.
  std::int64_t room(std::int64_t width) const;
  // Forwards. Where the result is: in the place of the operand or in the room. Backwards is the same with real and
  // imaginary parts exchanged.
  Parts<T> run(Parts<T> x, std::int64_t width, T* room) const;

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
  Parts<T> convolve(Parts<T> x, std::int64_t width, T* room) const;

  std::int64_t n_;
  Passes passes_;                         // for several side by side; none with a chirp
  std::unique_ptr<const Matrix> matrix_;  // for one alone, if it is long
  std::unique_ptr<const Chirp> chirp_;
};

}  // namespace burn::backends::cpu
