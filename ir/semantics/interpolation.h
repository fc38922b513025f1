// Which elements of a line an interpolated element is made of, and with which weights: one meaning for the CPU's tables
// and for the kernels of GPUs (NVRTC reads this file: ir/semantics/device.h).
#pragma once

#include "ir/semantics/device.h"
#include "ir/semantics/interpolate_mode.h"

namespace burn::ir {

// y[o] = sum of weight[k] x[index[k]]. An index may be named twice (at a border); all are inside the line.
struct Taps {
  static constexpr int kMax = 6;
  int count = 0;
  std::int64_t index[kMax] = {};
  double weight[kMax] = {};
};

// A line of `input` elements that becomes one of `output`. Sizes are from 1 to 2^31 - 1.
struct LineInterpolation {
  InterpolateMode mode = InterpolateMode::nearest;
  bool align_corners = false;  // the first and last elements stay where they are; the nearest modes ignore it
  std::int64_t input = 1, output = 1;

  bool is_nearest() const { return mode == InterpolateMode::nearest || mode == InterpolateMode::nearest_exact; }
  // From one output to the next, in elements of the input.
  double step() const {
    if (!align_corners || is_nearest()) return static_cast<double>(input) / static_cast<double>(output);
    return output > 1 ? static_cast<double>(input - 1) / static_cast<double>(output - 1) : 0.0;
  }
  // Where output `o` lies between the elements of the input.
  double position(std::int64_t o) const {
    if (!align_corners)
      return (static_cast<double>(o) + 0.5) * static_cast<double>(input) / static_cast<double>(output) - 0.5;
    return output > 1 ? static_cast<double>(o) * static_cast<double>(input - 1) / static_cast<double>(output - 1) : 0.0;
  }
  std::int64_t clamped(std::int64_t i) const { return i < 0 ? 0 : i < input ? i : input - 1; }

  Taps taps(std::int64_t o) const;
  // Outputs [begin, end) that include all which have element `i` among their taps.
  struct Range {
    std::int64_t begin, end;
  };
  Range outputs_near(std::int64_t i) const;
};

namespace interpolation {

// Keys' cubic convolution kernel (1981) at distance 0 <= x <= 2.
inline double cubic(double x) {
  constexpr double a = -0.75;
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

// At |x| < 3; 0 beyond.
inline double lanczos3(double x) {
  if (x == 0) return 1;
  if (x <= -3 || x >= 3) return 0;
  const double angle = std::numbers::pi_v<double> * x;
  return 3 * std::sin(angle) * std::sin(angle / 3) / (angle * angle);
}

}  // namespace interpolation

inline Taps LineInterpolation::taps(std::int64_t o) const {
  Taps taps;
  if (is_nearest() || input == output) {  // a line that stays as it is: no infinity in it spoils its neighbours
    taps.count = 1;
    taps.index[0] = clamped(mode == InterpolateMode::nearest ? o * input / output : (2 * o + 1) * input / (2 * output));
    taps.weight[0] = 1;
    return taps;
  }
  double at = position(o);
  if (mode == InterpolateMode::bilinear && at < 0) at = 0;
  const double whole = std::floor(at), rest = at - whole;
  const auto first = static_cast<std::int64_t>(whole);
  if (mode == InterpolateMode::bilinear) {
    taps.count = 2;
    taps.index[0] = clamped(first), taps.index[1] = clamped(first + 1);
    taps.weight[0] = 1 - rest, taps.weight[1] = rest;
    return taps;
  }
  if (mode == InterpolateMode::bicubic) {
    taps.count = 4;
    for (int k = 0; k < 4; ++k) {
      taps.index[k] = clamped(first - 1 + k);
      taps.weight[k] = interpolation::cubic(k < 2 ? rest + 1 - k : k - 1 - rest);
    }
    return taps;
  }
  double sum = 0;
  for (int k = 0; k < 6; ++k) {
    const auto i = first - 2 + k;
    if (i < 0 || i >= input) continue;
    taps.index[taps.count] = i;
    taps.weight[taps.count] = interpolation::lanczos3(at - static_cast<double>(i));
    sum += taps.weight[taps.count++];
  }
  for (int k = 0; k < taps.count; ++k) taps.weight[k] /= sum;
  return taps;
}

inline LineInterpolation::Range LineInterpolation::outputs_near(std::int64_t i) const {
  const double by = step();
  if (by <= 0) return {0, output};
  const double reach = mode == InterpolateMode::bicubic    ? 3
                       : mode == InterpolateMode::lanczos3 ? 4
                                                           : 2;  // one more than theirs
  const double low = std::floor((static_cast<double>(i) - reach) / by) - 1;
  const double high = std::ceil((static_cast<double>(i) + reach) / by) + 2;
  return {low < 0 ? 0 : static_cast<std::int64_t>(low),
          high < static_cast<double>(output) ? static_cast<std::int64_t>(high) : output};
}

}  // namespace burn::ir
