// Ops that move elements without computing: views, slices, concatenation, gather and scatter. Their shape rules are in
// the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// An axis of a mesh of workers. data: workers that split the batch; model: workers that split the model.
enum class MeshAxis : std::uint8_t { data, model };

// How elements are combined by a scatter.
enum class ScatterFn : std::uint8_t { assign, add, mul, max, min };

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

// The first operand, with the second written over the elements that Slice{starts, second's sizes, steps} would read.
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

// The same value; tells a router to split it along `axis` over the workers along `mesh`. Has no effect on one worker:
// plans omit it (compile/rewrite/simplify.h).
struct Place {
  std::int64_t axis = 0;
  MeshAxis mesh = MeshAxis::data;
  static constexpr std::string_view kName = "place";
  static constexpr std::string_view kSignature = "[..., n, ...] -> [..., n, ...]";
  static constexpr auto kAttrs = std::tuple{Attr{"axis", &Place::axis}, Attr{"mesh", &Place::mesh}};
};

#define BURN_MOVES_OPS(OP) \
  OP(Reshape) OP(Permute) OP(Expand) OP(Slice) OP(SliceAssign) OP(Concat) OP(Gather) OP(Scatter) OP(Place)

}  // namespace burn::ir
