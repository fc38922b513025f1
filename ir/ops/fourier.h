// The discrete Fourier transform along one axis of any length, without scaling. Complex numbers are two tensors, real
// and imaginary parts, f32 or f64. Their shape rules are in the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// y[k] = sum over j of x[j] e^(-2 pi i j k / n); `inverse`: with +i. Operands and results: real, imaginary parts.
struct Fft {
  std::int64_t axis = 0;
  bool inverse = false;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "fft";
  static constexpr std::string_view kSignature = "[..., n, ...], [..., n, ...] -> [..., n, ...], [..., n, ...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Fft::axis}, Attr{"inverse", &Fft::inverse}};
};

// The first n / 2 + 1 elements of the Fft of real numbers; the others are their conjugates.
struct RealFft {
  std::int64_t axis = 0;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "real_fft";
  static constexpr std::string_view kSignature = "[..., n, ...] -> [..., n / 2 + 1, ...], [..., n / 2 + 1, ...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &RealFft::axis}};
};

// The inverse of RealFft, without scaling: `length` real numbers from the first length / 2 + 1 elements of a spectrum.
// The imaginary parts of the first and, for an even length, of the last element are taken as 0.
struct InverseRealFft {
  std::int64_t axis = 0;
  std::int64_t length = 0;
  static constexpr std::string_view kName = "inverse_real_fft";
  static constexpr std::string_view kSignature =
      "[..., length / 2 + 1, ...], [..., length / 2 + 1, ...] -> [..., length, ...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"axis", &InverseRealFft::axis}, Attr{"length", &InverseRealFft::length}};
};

#define BURN_FOURIER_OPS(OP) OP(Fft) OP(RealFft) OP(InverseRealFft)

}  // namespace burn::ir
