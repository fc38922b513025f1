// Fourier transforms of any length, and windows. Complex numbers are pairs of tensors, real and imaginary parts. 16-bit
// floats are computed in f32. Windows, which programs pass again and again, are computed on the host, in double.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/ops/ops.h"

namespace burn::client {

struct Complex {
  Value re, im;
};

// Transforms along `axis`, which is first cut or padded with zeros to `n` (none: its own size). Not scaled.
Complex rfft(const Value& x, std::int64_t axis, std::optional<std::int64_t> n, const Site& site);
Complex cfft(const Value& re, const Value& im, std::int64_t axis, std::optional<std::int64_t> n, const Site& site);
// The inverse of rfft(): from the first half of a spectrum to `n` real numbers (none: 2 (size - 1)), scaled by 1 / n.
Value irfft(const Value& re, const Value& im, std::int64_t axis, std::optional<std::int64_t> n, const Site& site);

struct StftShape {
  std::int64_t n_fft = 0, hop_length = 0, win_length = 0;
  bool center = true, onesided = true;
};
Value stft(const Value& x, const Value* window, const StftShape& shape, const Site& site);
Value istft(const Value& x, const Value* window, std::optional<std::int64_t> length, const StftShape& shape,
            const Site& site);

// a - b cos(2 pi k / N) + c cos(4 pi k / N) for 0 <= k < size; N = size if periodic, else size - 1. For size 1: {1}.
std::vector<double> cosine_window(std::int64_t size, bool periodic, double a, double b, double c, const char* name,
                                  const Site& site);

}  // namespace burn::client
