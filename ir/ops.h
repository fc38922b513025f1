// The structured ops: plain values, each with its attributes named once in kAttrs, from which encoding, hashing,
// printing and docs are derived (ir/attrs.h). An attribute that is absent on the wire has the value that its field is
// initialised with here: such a default is part of the language and never changes. Facts about an op (shape rule,
// gradient, kernels) are functions elsewhere, one file per pass; ir/op.h lists the ops.
//
// An op has one result, or kResults of them. One with kEffect does something besides computing its results: every pass
// keeps it, never merges it, and leaves all such nodes of a program in their order.
//
// Broadcasting is explicit (Expand), except that a rank-0 operand of Pointwise stands for every element: user scalars
// are rank-0 values. Reductions keep their axes with size 1; a Reshape drops them. Both keep every rule here one line
// long.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/dtype.h"
#include "ir/pointwise.h"
#include "ir/shape.h"

namespace burn::ir {

template <typename Owner, typename Member>
struct Attr {
  std::string_view name;
  Member Owner::*member;
};
template <typename Owner, typename Member>
Attr(const char*, Member Owner::*) -> Attr<Owner, Member>;

// How many results an op of this kind has.
template <typename Kind>
constexpr int result_count() {
  if constexpr (requires { Kind::kResults; })
    return Kind::kResults;
  else
    return 1;
}

template <typename Kind>
constexpr bool has_effect() {
  if constexpr (requires { Kind::kEffect; })
    return Kind::kEffect;
  else
    return false;
}

// How elements are combined by a reduction, a scan or a scatter.
enum class ReduceFn : std::uint8_t { sum, prod, max, min };  // on bool: max is "any", min is "all"
enum class ArgFn : std::uint8_t { max, min };                // the first of equals; NaN wins
enum class ScatterFn : std::uint8_t { assign, add, mul, max, min };
enum class RandomFn : std::uint8_t {
  uniform,
  normal,
  bits
};  // in [0, 1); mean 0 and deviation 1; any of the 2^64 numbers

// A number known when the program is written: `real` of floats, `number` of the rest (u64: the int64 of the same bits).
// The other one is 0.
struct Constant {
  DType dtype = DType::f32;
  std::int64_t number = 0;
  double real = 0;
  static constexpr std::string_view kName = "constant";
  static constexpr std::string_view kSignature = "-> []";
  static constexpr auto kAttrs =
      std::tuple{Attr{"dtype", &Constant::dtype}, Attr{"number", &Constant::number}, Attr{"real", &Constant::real}};

  // By the bits in which numbers of any dtype travel as scalars: a double's for floats, an int64's for the rest.
  static Constant of_bits(DType dtype, std::int64_t bits) {
    return is_floating(dtype) ? Constant{dtype, 0, std::bit_cast<double>(bits)} : Constant{dtype, bits, 0};
  }
  std::int64_t bits() const { return is_floating(dtype) ? std::bit_cast<std::int64_t>(real) : number; }
};

// A number given anew with each run, in slot `slot` of its bindings: what a user writes as a scalar, a learning rate.
struct Scalar {
  DType dtype = DType::f32;
  std::int64_t slot = 0;
  static constexpr std::string_view kName = "scalar";
  static constexpr std::string_view kSignature = "-> []";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Scalar::dtype}, Attr{"slot", &Scalar::slot}};
};

// 0, 1, ..., size - 1.
struct Iota {
  DType dtype = DType::i64;
  std::int64_t size = 0;
  static constexpr std::string_view kName = "iota";
  static constexpr std::string_view kSignature = "-> [size]";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Iota::dtype}, Attr{"size", &Iota::size}};
};

// Counter-based random numbers (Philox4x32-10): an element is a function of (run seed, run offset + offset, its
// position in the whole value) alone, so the same on every backend (ir/philox.h). What is drawn is the box of `shape`
// that begins at `starts` in a value of shape `whole`: parts drawn apart are those of the whole. Both empty: all of it.
// `offset` counts blocks of four numbers from the start of the program; every box takes those of its whole.
struct Random {
  RandomFn fn = RandomFn::uniform;
  DType dtype = DType::f32;  // f32 or f64; of bits: u64
  Shape shape;
  std::int64_t offset = 0;
  Shape whole;
  Dims starts;
  static constexpr std::string_view kName = "random";
  static constexpr std::string_view kSignature = "-> [shape]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"fn", &Random::fn},         Attr{"dtype", &Random::dtype}, Attr{"shape", &Random::shape},
                 Attr{"offset", &Random::offset}, Attr{"whole", &Random::whole}, Attr{"starts", &Random::starts}};

  const Shape& whole_shape() const { return whole.empty() ? shape : whole; }
};

// One row of pointwise.def. Operands have the result's shape, or rank 0.
struct Pointwise {
  PointwiseFn fn = PointwiseFn::add;
  static constexpr std::string_view kName = "pointwise";
  static constexpr std::string_view kSignature = "[...], ... -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"fn", &Pointwise::fn}};
};

// Conversion: floats to integers toward zero and saturating (NaN gives 0), anything to bool as != 0.
struct Cast {
  DType dtype = DType::f32;
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kSignature = "[...] -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"dtype", &Cast::dtype}};
};

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

// The elements sorted along `axis`, and their indices (i64) there before. Stable; NaN counts as the largest.
struct Sort {
  std::int64_t axis = 0;
  bool descending = false;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "sort";
  static constexpr std::string_view kSignature = "[...] -> [...], i64[...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Sort::axis}, Attr{"descending", &Sort::descending}};
};

// Batch dims are equal (Expand first). Transposed operands are Permute views, which kernels read in place.
struct MatMul {
  static constexpr std::string_view kName = "matmul";
  static constexpr std::string_view kSignature = "[..., m, k], [..., k, n] -> [..., m, n]";
  static constexpr auto kAttrs = std::tuple{};
};

// softmax(scale q k^T) v over the keys, without the scores ever being whole in memory (Dao et al., arXiv:2205.14135),
// and the statistics of the softmax: for each query the logarithm of the sum of its scores' exponentials, in the dtype
// that the op computes in. Operands: q, k, v, then, where they are wanted, a bool mask [..., n, m] (true: hidden) and a
// bias [..., n, m] that is added to the scores; batch dims are equal (Expand first; expanded masks are read in place).
// `causal` hides key j from query i where j > i + m - n. A query that sees nothing gives 0, and -infinity.
struct Attention {
  double scale = 1;
  bool causal = false;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "attention";
  static constexpr std::string_view kSignature =
      "[..., n, d], [..., m, d], [..., m, e], bool[..., n, m]?, [..., n, m]? -> [..., n, e], f32 or f64[..., n, 1]";
  static constexpr auto kAttrs = std::tuple{Attr{"scale", &Attention::scale}, Attr{"causal", &Attention::causal}};
};

// The gradients of Attention in q, k and v; one op, because they share most of their work. Operands: q, k, v, both
// results, the gradient of the first one, and the mask and the bias as above.
struct AttentionGrad {
  double scale = 1;
  bool causal = false;
  static constexpr int kResults = 3;
  static constexpr std::string_view kName = "attention_grad";
  static constexpr std::string_view kSignature =
      "[..., n, d], [..., m, d], [..., m, e], [..., n, e], f32 or f64[..., n, 1], [..., n, e], bool[..., n, m]?, "
      "[..., n, m]? -> [..., n, d], [..., m, d], [..., m, e]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"scale", &AttentionGrad::scale}, Attr{"causal", &AttentionGrad::causal}};
};

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

// The adjoint of Conv in its input: its gradient, and the transposed convolution. `input_size`: the spatial result.
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

// The largest element of each window and its position (i64, flat over the spatial dims): the first of equals; NaN wins.
// Padding never wins.
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

// The same elements in row-major order under another shape.
struct Reshape {
  Shape shape;
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kSignature = "[...] -> [shape]";
  static constexpr auto kAttrs = std::tuple{Attr{"shape", &Reshape::shape}};
};

// result.dim(i) = operand.dim(axes[i]).
struct Permute {
  Dims axes;
  static constexpr std::string_view kName = "permute";
  static constexpr std::string_view kSignature = "[...] -> [... by axes]";
  static constexpr auto kAttrs = std::tuple{Attr{"axes", &Permute::axes}};
};

// Dims of size 1 repeat up to `shape`; new leading dims may appear.
struct Expand {
  Shape shape;
  static constexpr std::string_view kName = "expand";
  static constexpr std::string_view kSignature = "[...] -> [shape]";
  static constexpr auto kAttrs = std::tuple{Attr{"shape", &Expand::shape}};
};

// y[i] = x[start + i * step] in every dim, 0 <= i < sizes; steps are not 0 and may be negative.
struct Slice {
  Dims starts, sizes, steps;
  static constexpr std::string_view kName = "slice";
  static constexpr std::string_view kSignature = "[...] -> [sizes]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"starts", &Slice::starts}, Attr{"sizes", &Slice::sizes}, Attr{"steps", &Slice::steps}};
};

// The first operand with the second written over the part that Slice{starts, second's sizes, steps} reads.
struct SliceAssign {
  Dims starts, steps;
  static constexpr std::string_view kName = "slice_assign";
  static constexpr std::string_view kSignature = "[...], [sizes] -> [...]";
  static constexpr auto kAttrs = std::tuple{Attr{"starts", &SliceAssign::starts}, Attr{"steps", &SliceAssign::steps}};
};

// Operands one after the other along `axis`; other dims are equal.
struct Concat {
  std::int64_t axis = 0;
  static constexpr std::string_view kName = "concat";
  static constexpr std::string_view kSignature = "[..., n0, ...], [..., n1, ...], ... -> [..., n0 + n1 + ..., ...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Concat::axis}};
};

// y[.., i, ..] = x[.., index[.., i, ..], ..]: index has x's rank, and its sizes except along `axis`. Index out of
// range: an error of the run. Selecting whole rows is a Gather whose index is an Expand.
struct Gather {
  std::int64_t axis = 0;
  static constexpr std::string_view kName = "gather";
  static constexpr std::string_view kSignature = "[..., n, ...], int[..., m, ...] -> [..., m, ...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Gather::axis}};
};

// x with x[.., index[.., i, ..], ..] combined with values[.., i, ..]. Operands: x, index, values. Duplicates accumulate
// in row-major order (for assign, the last wins); 16-bit floats are added and multiplied in f32.
struct Scatter {
  std::int64_t axis = 0;
  ScatterFn fn = ScatterFn::add;
  static constexpr std::string_view kName = "scatter";
  static constexpr std::string_view kSignature = "[..., n, ...], int[..., m, ...], [..., m, ...] -> [..., n, ...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Scatter::axis}, Attr{"fn", &Scatter::fn}};
};

}  // namespace burn::ir
