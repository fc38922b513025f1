// Ops over windows of images: convolutions and pools, and their adjoints. Their shape rules are in the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// Cross-correlation over 1 to 3 spatial dims. Lists have one entry per spatial dim; padding may differ at the two ends.
struct Conv {
  Dims stride, pad_begin, pad_end, dilation;
  std::int64_t groups = 1;
  static constexpr std::string_view kName = "conv";
  static constexpr std::string_view kSignature =
      "[n, c_in, in...], [c_out, c_in / groups, kernel...] -> [n, c_out, out...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"stride", &Conv::stride}, Attr{"pad_begin", &Conv::pad_begin}, Attr{"pad_end", &Conv::pad_end},
                 Attr{"dilation", &Conv::dilation}, Attr{"groups", &Conv::groups}};
};

// The adjoint of Conv in its input: the gradient of the input, and transposed convolution. `input_size`: the spatial
// sizes of the result.
struct ConvInputGrad {
  Dims stride, pad_begin, pad_end, dilation, input_size;
  std::int64_t groups = 1;
  static constexpr std::string_view kName = "conv_input_grad";
  static constexpr std::string_view kSignature =
      "[n, c_out, out...], [c_out, c_in / groups, kernel...] -> [n, c_in, in...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"stride", &ConvInputGrad::stride},         Attr{"pad_begin", &ConvInputGrad::pad_begin},
                 Attr{"pad_end", &ConvInputGrad::pad_end},       Attr{"dilation", &ConvInputGrad::dilation},
                 Attr{"input_size", &ConvInputGrad::input_size}, Attr{"groups", &ConvInputGrad::groups}};
};

// The adjoint of Conv in its weight. Operands: input, gradient of the output. `kernel_size`: the spatial part of the
// result.
struct ConvWeightGrad {
  Dims stride, pad_begin, pad_end, dilation, kernel_size;
  std::int64_t groups = 1;
  static constexpr std::string_view kName = "conv_weight_grad";
  static constexpr std::string_view kSignature =
      "[n, c_in, in...], [n, c_out, out...] -> [c_out, c_in / groups, kernel...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"stride", &ConvWeightGrad::stride},           Attr{"pad_begin", &ConvWeightGrad::pad_begin},
                 Attr{"pad_end", &ConvWeightGrad::pad_end},         Attr{"dilation", &ConvWeightGrad::dilation},
                 Attr{"kernel_size", &ConvWeightGrad::kernel_size}, Attr{"groups", &ConvWeightGrad::groups}};
};

// Mean over windows of the last `kernel.rank()` dims. The divisor counts the window's positions inside the padded
// input, or, without count_include_pad, inside the input. ceil_mode keeps a last partial window that starts inside
// input or left padding.
struct AvgPool {
  Dims kernel, stride, padding;
  bool count_include_pad = true, ceil_mode = false;
  static constexpr std::string_view kName = "avg_pool";
  static constexpr std::string_view kSignature = "[n, c, in...] -> [n, c, out...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"kernel", &AvgPool::kernel}, Attr{"stride", &AvgPool::stride}, Attr{"padding", &AvgPool::padding},
                 Attr{"count_include_pad", &AvgPool::count_include_pad}, Attr{"ceil_mode", &AvgPool::ceil_mode}};
};

// The adjoint of AvgPool: spreads each value evenly over its window.
struct AvgPoolGrad {
  Dims kernel, stride, padding, input_size;
  bool count_include_pad = true, ceil_mode = false;
  static constexpr std::string_view kName = "avg_pool_grad";
  static constexpr std::string_view kSignature = "[n, c, out...] -> [n, c, in...]";
  static constexpr auto kAttrs = std::tuple{Attr{"kernel", &AvgPoolGrad::kernel},
                                            Attr{"stride", &AvgPoolGrad::stride},
                                            Attr{"padding", &AvgPoolGrad::padding},
                                            Attr{"input_size", &AvgPoolGrad::input_size},
                                            Attr{"count_include_pad", &AvgPoolGrad::count_include_pad},
                                            Attr{"ceil_mode", &AvgPoolGrad::ceil_mode}};
};

// The largest element of each window and its position (i64, flat over the spatial dims); of equal elements the first;
// NaN wins. Padding never wins.
struct MaxPool {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode = false;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "max_pool";
  static constexpr std::string_view kSignature = "[n, c, in...] -> [n, c, out...], i64[n, c, out...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"kernel", &MaxPool::kernel}, Attr{"stride", &MaxPool::stride}, Attr{"padding", &MaxPool::padding},
                 Attr{"dilation", &MaxPool::dilation}, Attr{"ceil_mode", &MaxPool::ceil_mode}};
};

// Mean over windows floor(i * in / out) .. ceil((i + 1) * in / out) of the last `output_size.rank()` dims.
struct AdaptiveAvgPool {
  Dims output_size;
  static constexpr std::string_view kName = "adaptive_avg_pool";
  static constexpr std::string_view kSignature = "[n, c, in...] -> [n, c, output_size...]";
  static constexpr auto kAttrs = std::tuple{Attr{"output_size", &AdaptiveAvgPool::output_size}};
};

// The adjoint of AdaptiveAvgPool.
struct AdaptiveAvgPoolGrad {
  Dims input_size;
  static constexpr std::string_view kName = "adaptive_avg_pool_grad";
  static constexpr std::string_view kSignature = "[n, c, out...] -> [n, c, input_size...]";
  static constexpr auto kAttrs = std::tuple{Attr{"input_size", &AdaptiveAvgPoolGrad::input_size}};
};

// The largest element of each window of AdaptiveAvgPool and its position, as MaxPool's.
struct AdaptiveMaxPool {
  Dims output_size;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "adaptive_max_pool";
  static constexpr std::string_view kSignature = "[n, c, in...] -> [n, c, output_size...], i64[n, c, output_size...]";
  static constexpr auto kAttrs = std::tuple{Attr{"output_size", &AdaptiveMaxPool::output_size}};
};

#define BURN_WINDOWS_OPS(OP) \
  OP(Conv)                   \
  OP(ConvInputGrad)          \
  OP(ConvWeightGrad)         \
  OP(AvgPool) OP(AvgPoolGrad) OP(MaxPool) OP(AdaptiveAvgPool) OP(AdaptiveAvgPoolGrad) OP(AdaptiveMaxPool)

}  // namespace burn::ir
