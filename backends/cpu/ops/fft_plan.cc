#include "backends/cpu/ops/fft_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace burn::backends::cpu {
namespace {

constexpr std::int64_t kLargestFactor = 31;

struct Angle {
  double cos, sin;
};

// e^(-2 pi i part / whole), 0 <= part < whole; from an angle within an eighth of the circle, where nothing is lost.
Angle root(std::int64_t part, std::int64_t whole) {
  const auto eighth = static_cast<int>(8 * static_cast<double>(part) / static_cast<double>(whole));
  const double turn = 2 * std::numbers::pi / static_cast<double>(whole);
  const auto at = [&](std::int64_t p) { return turn * static_cast<double>(p); };
  const auto quarters = [&](std::int64_t q) {  // how far past (or before) q quarters, in units of 1 / (4 whole)
    return (4 * static_cast<double>(part) - static_cast<double>(q) * static_cast<double>(whole)) * turn / 4;
  };
  switch (eighth) {
    case 0:
      return {std::cos(at(part)), -std::sin(at(part))};
    case 1:
    case 2:
      return {-std::sin(quarters(1)), -std::cos(quarters(1))};
    case 3:
    case 4:
      return {-std::cos(quarters(2)), std::sin(quarters(2))};
    case 5:
    case 6:
      return {std::sin(quarters(3)), std::cos(quarters(3))};
    default:
      return {std::cos(at(whole - part)), std::sin(at(whole - part))};
  }
}

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

// One pass over rows of `s` elements: factor rows of x, m apart, become factor rows of y, side by side, and the shorter
// transforms' twiddles are multiplied in (Stockham's order, which needs no reordering).
template <typename T, int kFactor>
void pass_of(std::int64_t m, std::int64_t s, const T* cos, const T* sin, const T* xr, const T* xi, T* yr, T* yi) {
  constexpr T kHalf = T(0.5), kSin3 = T(0.86602540378443864676);
  constexpr T kCos5 = T(0.30901699437494742410), kCos5b = T(-0.80901699437494742410), kSin5 = T(0.95105651629515357212),
              kSin5b = T(0.58778525229247312917);
  for (std::int64_t p = 0; p < m; ++p) {
    const T *ar[kFactor], *ai[kFactor];
    T *br[kFactor], *bi[kFactor], wr[kFactor], wi[kFactor];
    for (int j = 0; j < kFactor; ++j) {
      ar[j] = xr + s * (p + m * j);
      ai[j] = xi + s * (p + m * j);
      br[j] = yr + s * (kFactor * p + j);
      bi[j] = yi + s * (kFactor * p + j);
      wr[j] = cos[kFactor * p + j];
      wi[j] = sin[kFactor * p + j];
    }
    const auto store = [&](int k, std::int64_t q, T re, T im) {
      br[k][q] = re * wr[k] - im * wi[k];
      bi[k][q] = re * wi[k] + im * wr[k];
    };
#pragma GCC ivdep
    for (std::int64_t q = 0; q < s; ++q) {
      if constexpr (kFactor == 2) {
        br[0][q] = ar[0][q] + ar[1][q];
        bi[0][q] = ai[0][q] + ai[1][q];
        store(1, q, ar[0][q] - ar[1][q], ai[0][q] - ai[1][q]);
      } else if constexpr (kFactor == 3) {
        const T sr = ar[1][q] + ar[2][q], si = ai[1][q] + ai[2][q];
        const T dr = kSin3 * (ar[1][q] - ar[2][q]), di = kSin3 * (ai[1][q] - ai[2][q]);
        const T mr = ar[0][q] - kHalf * sr, mi = ai[0][q] - kHalf * si;
        br[0][q] = ar[0][q] + sr;
        bi[0][q] = ai[0][q] + si;
        store(1, q, mr + di, mi - dr);
        store(2, q, mr - di, mi + dr);
      } else if constexpr (kFactor == 4) {
        const T pr = ar[0][q] + ar[2][q], pi = ai[0][q] + ai[2][q], qr = ar[0][q] - ar[2][q], qi = ai[0][q] - ai[2][q];
        const T rr = ar[1][q] + ar[3][q], ri = ai[1][q] + ai[3][q], tr = ar[1][q] - ar[3][q], ti = ai[1][q] - ai[3][q];
        br[0][q] = pr + rr;
        bi[0][q] = pi + ri;
        store(1, q, qr + ti, qi - tr);
        store(2, q, pr - rr, pi - ri);
        store(3, q, qr - ti, qi + tr);
      } else {
        const T sr = ar[1][q] + ar[4][q], si = ai[1][q] + ai[4][q], dr = ar[1][q] - ar[4][q], di = ai[1][q] - ai[4][q];
        const T tr = ar[2][q] + ar[3][q], ti = ai[2][q] + ai[3][q], er = ar[2][q] - ar[3][q], ei = ai[2][q] - ai[3][q];
        const T mr = ar[0][q] + kCos5 * sr + kCos5b * tr, mi = ai[0][q] + kCos5 * si + kCos5b * ti;
        const T nr = ar[0][q] + kCos5b * sr + kCos5 * tr, ni = ai[0][q] + kCos5b * si + kCos5 * ti;
        const T ur = kSin5 * dr + kSin5b * er, ui = kSin5 * di + kSin5b * ei;
        const T vr = kSin5b * dr - kSin5 * er, vi = kSin5b * di - kSin5 * ei;
        br[0][q] = ar[0][q] + sr + tr;
        bi[0][q] = ai[0][q] + si + ti;
        store(1, q, mr + ui, mi - ur);
        store(2, q, nr + vi, ni - vr);
        store(3, q, nr - vi, ni + vr);
        store(4, q, mr - ui, mi + ur);
      }
    }
  }
}

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
#pragma GCC ivdep
        for (std::int64_t q = 0; q < s; ++q) {
          br[q] += ar[q] * c - ai[q] * w;
          bi[q] += ar[q] * w + ai[q] * c;
        }
      }
      const T c = cos[factor * p + k], w = sin[factor * p + k];
#pragma GCC ivdep
      for (std::int64_t q = 0; q < s; ++q) {
        const T re = br[q], im = bi[q];
        br[q] = re * c - im * w;
        bi[q] = re * w + im * c;
      }
    }
  }
}

}  // namespace

template <typename T>
FftPlan<T>::FftPlan(std::int64_t n) : n_(n) {
  if (largest_prime_factor(n) <= kLargestFactor)
    add_passes();
  else
    make_chirp(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1))));
}

template <typename T>
void FftPlan<T>::add_passes() {
  auto left = n_;
  while (left > 1) {
    std::int64_t factor = left % 4 == 0 ? 4 : 2;
    while (left % factor != 0) ++factor;
    Pass pass{factor, left, {}, {}, {}, {}};
    const auto table = [](std::vector<T>& cos, std::vector<T>& sin, Angle angle) {
      cos.push_back(static_cast<T>(angle.cos));
      sin.push_back(static_cast<T>(angle.sin));
    };
    for (std::int64_t p = 0; p < left / factor; ++p) {
      for (std::int64_t k = 0; k < factor; ++k) table(pass.cos, pass.sin, root(p * k, left));
    }
    for (std::int64_t k = 0; k < factor; ++k) table(pass.root_cos, pass.root_sin, root(k, factor));
    passes_.push_back(std::move(pass));
    left /= factor;
  }
}

template <typename T>
void FftPlan<T>::make_chirp(std::int64_t length) {
  const auto size = static_cast<std::size_t>(n_), whole = static_cast<std::size_t>(length);
  // What rounds in the response would show in every result: double also for floats.
  const FftPlan<double> exact(length);
  std::vector<double> re(whole), im(whole), room(static_cast<std::size_t>(exact.room(1)));
  std::vector<T> cos(size), sin(size);
  std::int64_t square = 0;  // k^2 modulo 2 n
  for (std::int64_t k = 0; k < n_; square = (square + 2 * k + 1) % (2 * n_), ++k) {
    const auto angle = root(square, 2 * n_);
    const auto i = static_cast<std::size_t>(k);
    cos[i] = static_cast<T>(angle.cos);
    sin[i] = static_cast<T>(angle.sin);
    re[i] = re[(whole - i) % whole] = angle.cos / static_cast<double>(length);
    im[i] = im[(whole - i) % whole] = -angle.sin / static_cast<double>(length);
  }
  exact.run(re.data(), im.data(), 1, room.data());
  chirp_ =
      std::make_unique<const Chirp>(Chirp{FftPlan(length), std::move(cos), std::move(sin),
                                          std::vector<T>(re.begin(), re.end()), std::vector<T>(im.begin(), im.end())});
}

template <typename T>
std::int64_t FftPlan<T>::room(std::int64_t width) const {
  if (!chirp_) return 2 * n_ * width;
  return 2 * chirp_->convolution.size() * width + chirp_->convolution.room(width);
}

template <typename T>
void FftPlan<T>::run(T* re, T* im, std::int64_t width, T* room) const {
  if (chirp_)
    convolve(re, im, width, room);
  else
    run_passes(re, im, width, room);
}

template <typename T>
void FftPlan<T>::run_passes(T* re, T* im, std::int64_t width, T* room) const {
  T *from_re = re, *from_im = im, *to_re = room, *to_im = room + n_ * width;
  auto s = width;
  for (const auto& pass : passes_) {
    const auto m = pass.size / pass.factor;
    const auto *cos = pass.cos.data(), *sin = pass.sin.data();
    switch (pass.factor) {
      case 2:
        pass_of<T, 2>(m, s, cos, sin, from_re, from_im, to_re, to_im);
        break;
      case 3:
        pass_of<T, 3>(m, s, cos, sin, from_re, from_im, to_re, to_im);
        break;
      case 4:
        pass_of<T, 4>(m, s, cos, sin, from_re, from_im, to_re, to_im);
        break;
      case 5:
        pass_of<T, 5>(m, s, cos, sin, from_re, from_im, to_re, to_im);
        break;
      default:
        pass_of_any<T>(pass.factor, m, s, cos, sin, pass.root_cos.data(), pass.root_sin.data(), from_re, from_im, to_re,
                       to_im);
    }
    std::swap(from_re, to_re);
    std::swap(from_im, to_im);
    s *= pass.factor;
  }
  if (from_re == re) return;
  std::copy_n(from_re, n_ * width, re);
  std::copy_n(from_im, n_ * width, im);
}

// y[k] = w[k] sum over j of (x[j] w[j]) conj(w[k - j]), for j k = (j^2 + k^2 - (k - j)^2) / 2.
template <typename T>
void FftPlan<T>::convolve(T* re, T* im, std::int64_t width, T* room) const {
  const auto length = chirp_->convolution.size();
  T *ar = room, *ai = ar + length * width, *rest = ai + length * width;
  const auto turned = [&](const T* xr, const T* xi, T* yr, T* yi) {
    for (std::int64_t j = 0; j < n_; ++j) {
      const T c = chirp_->cos[static_cast<std::size_t>(j)], w = chirp_->sin[static_cast<std::size_t>(j)];
      for (auto q = j * width; q < (j + 1) * width; ++q) {
        const T a = xr[q], b = xi[q];
        yr[q] = a * c - b * w;
        yi[q] = a * w + b * c;
      }
    }
  };
  turned(re, im, ar, ai);
  std::fill(ar + n_ * width, ar + length * width, T{0});
  std::fill(ai + n_ * width, ai + length * width, T{0});
  chirp_->convolution.run(ar, ai, width, rest);
  for (std::int64_t j = 0; j < length; ++j) {
    const T c = chirp_->response_re[static_cast<std::size_t>(j)], w = chirp_->response_im[static_cast<std::size_t>(j)];
    for (auto q = j * width; q < (j + 1) * width; ++q) {
      const T a = ar[q], b = ai[q];
      ar[q] = a * c - b * w;
      ai[q] = a * w + b * c;
    }
  }
  chirp_->convolution.run(ai, ar, width, rest);  // backwards
  turned(ar, ai, re, im);
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace burn::backends::cpu
