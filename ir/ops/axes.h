// Ops that combine or order elements along axes, and the matrix product. Their shape rules are in the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// How elements are combined by a reduction or a scan.
enum class ReduceFn : std::uint8_t { sum, prod, max, min };  // on bool: max is "any", min is "all"
enum class ArgFn : std::uint8_t { max, min };                // of equal elements the first; NaN wins

// Combines elements along `axes` (sorted, unique), which stay with size 1. 16-bit floats accumulate in f32.
struct Reduce {
  ReduceFn fn = ReduceFn::sum;
  Dims axes;
  static constexpr std::string_view kName = "reduce";
  static constexpr std::string_view kSignature = "[...] -> [... with 1 at axes]";
  static constexpr auto kAttrs = std::tuple{Attr{"fn", &Reduce::fn}, Attr{"axes", &Reduce::axes}};
};

// The index (i64) of the extreme element along `axis`, which stays with size 1.
struct ArgReduce {
  ArgFn fn = ArgFn::max;
  std::int64_t axis = 0;
  static constexpr std::string_view kName = "arg_reduce";
  static constexpr std::string_view kSignature = "[...] -> i64[... with 1 at axis]";
  static constexpr auto kAttrs = std::tuple{Attr{"fn", &ArgReduce::fn}, Attr{"axis", &ArgReduce::axis}};
};

// Running combination along `axis`: y[i] = x[0] op ... op x[i].
struct Scan {
  ReduceFn fn = ReduceFn::sum;
  std::int64_t axis = 0;
  static constexpr std::string_view kName = "scan";
  static constexpr std::string_view kSignature = "[...] -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"fn", &Scan::fn}, Attr{"axis", &Scan::axis}};
};

// The elements sorted along `axis`, and their original indices (i64). Stable; NaN counts as the largest.
struct Sort {
  std::int64_t axis = 0;
  bool descending = false;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "sort";
  static constexpr std::string_view kSignature = "[...] -> [...], i64[...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Sort::axis}, Attr{"descending", &Sort::descending}};
};

// The first `k` elements of Sort{axis, largest}, and their original indices (i64).
struct TopK {
  std::int64_t axis = 0;
  std::int64_t k = 0;
  bool largest = true;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "top_k";
  static constexpr std::string_view kSignature = "[..., n, ...] -> [..., k, ...], i64[..., k, ...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"axis", &TopK::axis}, Attr{"k", &TopK::k}, Attr{"largest", &TopK::largest}};
};

// Batch dims are equal (Expand first). Transposed operands are Permute views, which kernels read in place.
struct MatMul {
  static constexpr std::string_view kName = "matmul";
  static constexpr std::string_view kSignature = "[..., m, k], [..., k, n] -> [..., m, n]";
  static constexpr auto kAttrs = std::tuple{};
};

// Non-maximum suppression of boxes (x1, y1, x2, y2) in the order of precedence: a box is kept unless a kept one before
// it overlaps it by more than `iou_threshold` of their union. A box with NaN overlaps none.
struct Nms {
  double iou_threshold = 0.5;
  static constexpr std::string_view kName = "nms";
  static constexpr std::string_view kSignature = "[..., n, 4] -> bool[..., n]";
  static constexpr std::string_view kFactors = "... ! ! -> ... !";
  static constexpr bool kIsFlat = true;
  static constexpr auto kAttrs = std::tuple{Attr{"iou_threshold", &Nms::iou_threshold}};
};

#define BURN_AXES_OPS(OP) OP(Reduce) OP(ArgReduce) OP(Scan) OP(Sort) OP(TopK) OP(MatMul) OP(Nms)

}  // namespace burn::ir
