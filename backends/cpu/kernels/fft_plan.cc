#include "backends/cpu/kernels/fft_plan.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/fft_division.h"
#include "backends/cpu/simd/fft_loops.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

// FftLoops::Pass for factors that have none of their own.
template <typename T>
void pass_of_any(std::int64_t factor, std::int64_t m, std::int64_t s, const T* cos, const T* sin, const T* root_cos,
                 const T* root_sin, const T* xr, const T* xi, T* yr, T* yi) {
  for (std::int64_t p = 0; p < m; ++p) {
    for (std::int64_t k = 0; k < factor; ++k) {
      T *br = yr + s * (factor * p + k), *bi = yi + s * (factor * p + k);
      std::fill_n(br, s, T{0});
      std::fill_n(bi, s, T{0});
      for (std::int64_t j = 0; j < factor; ++j) {
        const T *ar = xr + s * (p + m * j), *ai = xi + s * (p + m * j);
        const T c = root_cos[j * k % factor], w = root_sin[j * k % factor];
#pragma GCC ivdep  // NOLINT(clang-diagnostic-unknown-pragmas)
        for (std::int64_t q = 0; q < s; ++q) {
          br[q] += ar[q] * c - ai[q] * w;
          bi[q] += ar[q] * w + ai[q] * c;
        }
      }
      const T c = cos[factor * p + k], w = sin[factor * p + k];
#pragma GCC ivdep  // NOLINT(clang-diagnostic-unknown-pragmas)
      for (std::int64_t q = 0; q < s; ++q) {
        const T re = br[q], im = bi[q];
        br[q] = re * c - im * w;
        bi[q] = re * w + im * c;
      }
    }
  }
}

// Numbers in the tables of all passes.
std::int64_t pass_numbers(std::int64_t n) {
  std::int64_t numbers = 0;
  while (n > 1) {
    const auto factor = next_factor(n);
    numbers += padded_stride(n) + n + 2 * factor;
    n /= factor;
  }
  return numbers;
}

constexpr std::int64_t kRootUnits = 32;  // of an InterruptMeter, for a sine and a cosine

}  // namespace

template <typename T>
std::uint64_t FftPlan<T>::kept_bytes(std::int64_t n) {
  if (const auto length = convolution_length(n); length > 0)
    return kept_bytes(length) + static_cast<std::uint64_t>(2 * (n + length)) * sizeof(T);
  auto numbers = pass_numbers(n);
  if (const auto rows = rows_of_matrix(n); rows > 0)
    numbers += pass_numbers(rows) + pass_numbers(n / rows) + padded_stride(n) + n;
  return static_cast<std::uint64_t>(numbers) * sizeof(T);
}

template <typename T>
std::uint64_t FftPlan<T>::needed_bytes(std::int64_t n) {
  const auto length = convolution_length(n);
  if (length == 0) return kept_bytes(n);
  // The response, in double, and its transform, each with padded_stride().
  return kept_bytes(n) + FftPlan<double>::kept_bytes(length) +
         static_cast<std::uint64_t>(4 * padded_stride(length)) * sizeof(double);
}

template <typename T>
FftPlan<T>::FftPlan(std::int64_t n) : n_(n) {
  if (const auto length = convolution_length(n); length > 0)
    make_chirp(length);
  else
    passes_ = passes_of(n);
  if (const auto rows = rows_of_matrix(n); rows > 0 && !chirp_) make_matrix(rows);
}

template <typename T>
typename FftPlan<T>::Passes FftPlan<T>::passes_of(std::int64_t n) {
  Passes passes;
  InterruptMeter meter;
  while (n > 1) {
    const auto factor = next_factor(n);
    Pass pass{factor, n, {}, {}, {}};
    pass.roots = Roots<T>(n);
    for (std::int64_t p = 0; p < n / factor; ++p) {
      meter.add(factor * kRootUnits);
      for (std::int64_t k = 0; k < factor; ++k) {
        const auto angle = root_of_unity(p * k, n);
        pass.roots.push_back(angle.cos, angle.sin);
      }
    }
    for (std::int64_t k = 0; k < factor; ++k) {
      const auto angle = root_of_unity(k, factor);
      pass.root_cos.push_back(static_cast<T>(angle.cos));
      pass.root_sin.push_back(static_cast<T>(angle.sin));
    }
    passes.push_back(std::move(pass));
    n /= factor;
  }
  return passes;
}

template <typename T>
void FftPlan<T>::make_matrix(std::int64_t rows) {
  Matrix matrix{rows, n_ / rows, passes_of(rows), passes_of(n_ / rows), {}};
  matrix.roots = Roots<T>(n_);
  InterruptMeter meter;
  for (std::int64_t k = 0; k < rows; ++k) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) {
      meter.add(kRootUnits);
      const auto angle = root_of_unity(k * j, n_);
      matrix.roots.push_back(angle.cos, angle.sin);
    }
  }
  matrix_ = std::make_unique<const Matrix>(std::move(matrix));
}

template <typename T>
void FftPlan<T>::make_chirp(std::int64_t length) {
  const auto size = static_cast<std::size_t>(n_), whole = static_cast<std::size_t>(length);
  // Rounding errors of the response would appear in every result: double also for floats.
  const FftPlan<double> exact(length);
  std::vector<double> re(whole), im(whole), room(static_cast<std::size_t>(exact.room(1)));
  std::vector<T> cos(size), sin(size);
  InterruptMeter meter;
  std::int64_t square = 0;  // k^2 modulo 2 n
  for (std::int64_t k = 0; k < n_; square = (square + 2 * k + 1) % (2 * n_), ++k) {
    meter.add(kRootUnits);
    const auto angle = root_of_unity(square, 2 * n_);
    const auto i = static_cast<std::size_t>(k);
    cos[i] = static_cast<T>(angle.cos);
    sin[i] = static_cast<T>(angle.sin);
    re[i] = re[(whole - i) % whole] = angle.cos / static_cast<double>(length);
    im[i] = im[(whole - i) % whole] = -angle.sin / static_cast<double>(length);
  }
  const auto response = exact.run({re.data(), im.data()}, 1, room.data());
  chirp_ = std::make_unique<const Chirp>(Chirp{FftPlan(length), std::move(cos), std::move(sin),
                                               std::vector<T>(response.re, response.re + length),
                                               std::vector<T>(response.im, response.im + length)});
}

template <typename T>
bool FftPlan<T>::prefers_single() const {
  return chirp_ ? chirp_->convolution.prefers_single() : matrix_ != nullptr;
}

template <typename T>
std::int64_t FftPlan<T>::room(std::int64_t width) const {
  if (!chirp_) return 2 * padded_stride(n_ * width);
  return 2 * padded_stride(chirp_->convolution.size() * width) + chirp_->convolution.room(width);
}

namespace {

// Runs all passes over `s` signals side by side. x becomes the result and y workspace, or the reverse. Turn: see
// FftLoops.
template <typename T, typename Passes>
void run_passes(const Passes& passes, std::int64_t s, const T* turn_cos, const T* turn_sin, SplitComplex<T>& x,
                SplitComplex<T>& y) {
  const auto& loops = fft_loops<T>();
  for (const auto& pass : passes) {
    const auto m = pass.size / pass.factor;
    const bool is_last = m == 1;
    const auto run = [&](typename FftLoops<T>::Pass loop) {
      loop(m, s, pass.roots.cos(), pass.roots.sin(), is_last ? turn_cos : nullptr, is_last ? turn_sin : nullptr, x.re,
           x.im, y.re, y.im);
    };
    switch (pass.factor) {
      case 2:
        run(loops.pass_of_2);
        break;
      case 3:
        run(loops.pass_of_3);
        break;
      case 4:
        run(loops.pass_of_4);
        break;
      case 5:
        run(loops.pass_of_5);
        break;
      case 8:
        run(loops.pass_of_8);
        break;
      default:
        pass_of_any<T>(pass.factor, m, s, pass.roots.cos(), pass.roots.sin(), pass.root_cos.data(),
                       pass.root_sin.data(), x.re, x.im, y.re, y.im);
        if (is_last && turn_cos != nullptr) loops.turn(pass.factor * s, turn_cos, turn_sin, y.re, y.im, y.re, y.im);
    }
    std::swap(x, y);
    s *= pass.factor;
  }
}

}  // namespace

template <typename T>
SplitComplex<T> FftPlan<T>::run(SplitComplex<T> x, std::int64_t width, T* room) const {
  if (chirp_) return convolve(x, width, room);
  SplitComplex<T> y{room, room + padded_stride(n_ * width)};
  if (!matrix_ || width > 1) {
    run_passes<T>(passes_, width, nullptr, nullptr, x, y);
  } else {
    const auto& m = *matrix_;
    run_passes<T>(m.of_columns, m.columns, m.roots.cos(), m.roots.sin(), x, y);
    fft_loops<T>().transpose(m.rows, m.columns, x.re, m.columns, y.re, m.rows);
    fft_loops<T>().transpose(m.rows, m.columns, x.im, m.columns, y.im, m.rows);
    std::swap(x, y);
    run_passes<T>(m.of_rows, m.rows, nullptr, nullptr, x, y);
  }
  return x;
}

// y[k] = w[k] sum over j of (x[j] w[j]) conj(w[k - j]), for j k = (j^2 + k^2 - (k - j)^2) / 2.
template <typename T>
SplitComplex<T> FftPlan<T>::convolve(SplitComplex<T> x, std::int64_t width, T* room) const {
  const auto length = chirp_->convolution.size();
  const SplitComplex<T> padded{room, room + padded_stride(length * width)};
  T* rest = padded.im + padded_stride(length * width);
  const auto turn = [width](std::int64_t n, const std::vector<T>& cos, const std::vector<T>& sin, SplitComplex<T> from,
                            SplitComplex<T> to) {
    if (width == 1) return fft_loops<T>().turn(n, cos.data(), sin.data(), from.re, from.im, to.re, to.im);
    for (std::int64_t j = 0; j < n; ++j) {
      const T c = cos[static_cast<std::size_t>(j)], w = sin[static_cast<std::size_t>(j)];
      for (auto q = j * width; q < (j + 1) * width; ++q) {
        const T a = from.re[q], b = from.im[q];
        to.re[q] = a * c - b * w;
        to.im[q] = a * w + b * c;
      }
    }
  };
  turn(n_, chirp_->cos, chirp_->sin, x, padded);
  std::fill(padded.re + n_ * width, padded.re + length * width, T{0});
  std::fill(padded.im + n_ * width, padded.im + length * width, T{0});
  const auto spectrum = chirp_->convolution.run(padded, width, rest);
  turn(length, chirp_->response_re, chirp_->response_im, spectrum, spectrum);
  // The backward transform. The memory that does not hold the first one's result is workspace for the second.
  const bool in_place = spectrum.re == padded.re;
  const auto result = chirp_->convolution.run(spectrum.swapped(), width, in_place ? rest : padded.re).swapped();
  turn(n_, chirp_->cos, chirp_->sin, result, x);
  return x;
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace burn::backends::cpu
