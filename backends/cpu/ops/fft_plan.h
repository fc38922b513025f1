// The discrete Fourier transform of one length, of any: by factors up to 31, and of lengths with larger ones as a
// convolution (Bluestein's algorithm, IEEE Trans. Audio Electroacoust. 18, 1970). n log n steps in either case.
//
// Several signals are transformed side by side, so that the processor's vectors are full also in the first passes:
// element j of signal v is at [j * width + v]. A plan is immutable; any number of threads may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace burn::backends::cpu {

// T: float or double. Tables are computed in double.
template <typename T>
class FftPlan {
 public:
  explicit FftPlan(std::int64_t n);

  std::int64_t size() const { return n_; }
  // Numbers of room that run() wants, for this many signals.
  std::int64_t room(std::int64_t width) const;
  // Forwards, in place. Backwards is the same with real and imaginary parts exchanged.
  void run(T* re, T* im, std::int64_t width, T* room) const;

 private:
  struct Pass {  // of a transform of length `size`: `factor` shorter ones
    std::int64_t factor, size;
    std::vector<T> cos, sin;            // [size / factor, factor]: e^(-2 pi i p k / size)
    std::vector<T> root_cos, root_sin;  // [factor]: e^(-2 pi i k / factor)
  };
  struct Chirp {
    FftPlan convolution;                      // of a length that has small factors
    std::vector<T> cos, sin;                  // [n]: e^(-pi i k^2 / n)
    std::vector<T> response_re, response_im;  // the transform of its conjugate, over the length
  };

  void add_passes();
  void make_chirp(std::int64_t length);
  void run_passes(T* re, T* im, std::int64_t width, T* room) const;
  void convolve(T* re, T* im, std::int64_t width, T* room) const;

  std::int64_t n_;
  std::vector<Pass> passes_;
  std::unique_ptr<const Chirp> chirp_;
};

}  // namespace burn::backends::cpu
