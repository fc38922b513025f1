// Ops that interpolate between elements, and their adjoints. Their shape rules are in the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"
#include "ir/semantics/interpolate_mode.h"

namespace burn::ir {

// Resizes the last `output_size.rank()` dims, one or two, each with the weighted sums of LineInterpolation
// (ir/semantics/interpolation.h).
struct Interpolate {
  Dims output_size;
  InterpolateMode mode = InterpolateMode::nearest;
  bool align_corners = false;
  static constexpr std::string_view kName = "interpolate";
  static constexpr std::string_view kSignature = "[n, c, in...] -> [n, c, output_size...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"output_size", &Interpolate::output_size}, Attr{"mode", &Interpolate::mode},
                 Attr{"align_corners", &Interpolate::align_corners}};
};

// The adjoint of Interpolate.
struct InterpolateGrad {
  Dims input_size;
  InterpolateMode mode = InterpolateMode::nearest;
  bool align_corners = false;
  static constexpr std::string_view kName = "interpolate_grad";
  static constexpr std::string_view kSignature = "[n, c, out...] -> [n, c, input_size...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"input_size", &InterpolateGrad::input_size}, Attr{"mode", &InterpolateGrad::mode},
                 Attr{"align_corners", &InterpolateGrad::align_corners}};
};

#define BURN_SAMPLING_OPS(OP) OP(Interpolate) OP(InterpolateGrad)

}  // namespace burn::ir
