// Fourier transforms, short-time transforms and windows: burn::signal::rfft(x, -1). Complex numbers are pairs of
// tensors, real and imaginary parts; transforms are of any length, along any dim, and differentiable. 16-bit floats are
// computed in f32.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "client/ops/signal.h"
#include "client/tensor/tensor.h"

namespace burn::signal {

// How a signal is divided into frames.
struct StftOptions {
  std::int64_t n_fft;                                     // samples of a frame
  std::int64_t hop_length;                                // from one frame's start to the next
  std::optional<std::int64_t> win_length = std::nullopt;  // of the window, padded with zeros to n_fft; none: n_fft
  bool center = true;    // frame k is centred at sample k hop_length: both ends are padded by n_fft / 2, mirrored
  bool onesided = true;  // n_fft / 2 + 1 frequencies; the others are their conjugates

  client::StftShape shape() const { return {n_fft, hop_length, win_length.value_or(n_fft), center, onesided}; }
};

// The first n / 2 + 1 numbers X[k] = sum over j of x[j] e^(-2 pi i j k / n) along `dim`, which is cut or padded with
// zeros to `n`.
template <int D>
std::pair<Tensor<D>, Tensor<D>> rfft(const Tensor<D>& x, int dim, std::optional<std::int64_t> n = std::nullopt,
                                     Loc where = Loc::current()) {
  auto y = client::rfft(x.value(), dim, n, at(where, "rfft"));
  return {Tensor<D>{std::move(y.re)}, Tensor<D>{std::move(y.im)}};
}
// The inverse of rfft(): `n` real numbers (default: 2 (size - 1)), scaled by 1 / n. The imaginary parts of bin 0 and,
// for an even n, of bin n / 2 are taken as 0.
template <int D>
Tensor<D> irfft(const Tensor<D>& re, const Tensor<D>& im, int dim, std::optional<std::int64_t> n = std::nullopt,
                Loc where = Loc::current()) {
  return Tensor<D>{client::irfft(re.value(), im.value(), dim, n, at(where, "irfft"))};
}
// All n numbers X[k], for complex x.
template <int D>
std::pair<Tensor<D>, Tensor<D>> cfft(const Tensor<D>& re, const Tensor<D>& im, int dim,
                                     std::optional<std::int64_t> n = std::nullopt, Loc where = Loc::current()) {
  auto y = client::cfft(re.value(), im.value(), dim, n, at(where, "cfft"));
  return {Tensor<D>{std::move(y.re)}, Tensor<D>{std::move(y.im)}};
}

// [batch, n] -> [batch, frames, frequencies, 2]: real and imaginary parts of each frame's transform. `window`:
// [win_length], none: ones.
inline Tensor<4> stft(const Tensor<2>& x, const std::optional<Tensor<1>>& window, const StftOptions& options,
                      Loc where = Loc::current()) {
  return Tensor<4>{client::stft(x.value(), window ? &window->value() : nullptr, options.shape(), at(where, "stft"))};
}
// The inverse of stft(): overlapping frames are summed, and divided by the sum of the squared windows there (at least
// 1e-10); the result is cut or padded with zeros to `length`. Of a full spectrum (onesided = false), as in torch.istft,
// only the first n_fft / 2 + 1 numbers of each frame are used: for a real signal, the others are their conjugates.
inline Tensor<2> istft(const Tensor<4>& x, const std::optional<Tensor<1>>& window, std::optional<std::int64_t> length,
                       const StftOptions& options, Loc where = Loc::current()) {
  return Tensor<2>{
      client::istft(x.value(), window ? &window->value() : nullptr, length, options.shape(), at(where, "istft"))};
}

namespace detail {
inline Tensor<1> window(std::vector<double> numbers, const TensorOptions& options) {
  const ir::Shape shape{static_cast<std::int64_t>(numbers.size())};
  const TensorData data(std::move(numbers), shape);
  return Tensor<1>{client::from_data(data, options, options.dtype.value_or(Float::kDefault))};
}
}  // namespace detail

// Windows [size]; periodic: one period of a periodic sequence, for spectra; else symmetric, for filters. A window of
// size 1 is {1}. 0.5 - 0.5 cos(2 pi k / N), N = size or size - 1
inline Tensor<1> hann_window(std::int64_t size, bool periodic, const TensorOptions& options,
                             Loc where = Loc::current()) {
  return detail::window(client::cosine_window(size, periodic, 0.5, 0.5, 0, "hann_window", at(where, "hann_window")),
                        options);
}
// 25/46 - 21/46 cos(2 pi k / N)
inline Tensor<1> hamming_window(std::int64_t size, bool periodic, const TensorOptions& options,
                                Loc where = Loc::current()) {
  return detail::window(
      client::cosine_window(size, periodic, 25.0 / 46, 21.0 / 46, 0, "hamming_window", at(where, "hamming_window")),
      options);
}
// 0.42 - 0.5 cos(2 pi k / N) + 0.08 cos(4 pi k / N)
inline Tensor<1> blackman_window(std::int64_t size, bool periodic, const TensorOptions& options,
                                 Loc where = Loc::current()) {
  return detail::window(
      client::cosine_window(size, periodic, 0.42, 0.5, 0.08, "blackman_window", at(where, "blackman_window")), options);
}

}  // namespace burn::signal
