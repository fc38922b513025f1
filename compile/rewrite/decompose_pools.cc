// Means over windows, one spatial dim after the other: the divisor of a window is the product of its dims'. Elements
// outside of a window are left out, not multiplied by 0, for they may be infinite.
#include "compile/rewrite/decompose_rules.h"

namespace burn::compile::decomposition {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;

// The windows along one dim: i64 [windows] each.
struct Windows {
  Ref begin, end, size;  // of the elements inside the input; what a mean divides by
};

Windows sliding_windows(Composer& to, const ir::AvgPool& op, int dim, std::int64_t input, std::int64_t count) {
  const auto number = [&](std::int64_t value) { return to.integer(value); };
  const auto at = to.add(PointwiseFn::mul, {to.add(ir::Iota{DType::i64, count}, {}), number(op.stride[dim])});
  const auto start = to.add(PointwiseFn::sub, {at, number(op.padding[dim])});
  const auto stop = to.add(PointwiseFn::add, {start, number(op.kernel[dim])});
  const auto begin = to.add(PointwiseFn::max, {start, number(0)});
  const auto end = to.add(PointwiseFn::min, {stop, number(input)});
  if (!op.count_include_pad) return {begin, end, to.add(PointwiseFn::sub, {end, begin})};
  const auto padded = to.add(PointwiseFn::min, {stop, number(input + op.padding[dim])});
  return {begin, end, to.add(PointwiseFn::sub, {padded, start})};
}

Windows adaptive_windows(Composer& to, std::int64_t input, std::int64_t count) {
  const auto of = to.integer(count);
  const auto at = to.add(PointwiseFn::mul, {to.add(ir::Iota{DType::i64, count}, {}), to.integer(input)});
  const auto begin = to.add(PointwiseFn::div, {at, of});
  const auto end = to.add(PointwiseFn::div, {to.add(PointwiseFn::add, {at, to.integer(input + count - 1)}), of});
  return {begin, end, to.add(PointwiseFn::sub, {end, begin})};
}

// Of a tensor seen as [before, windows, elements, after].
struct View {
  std::int64_t before = 1, windows, elements, after = 1;

  View(const ir::Shape& shape, int axis, std::int64_t windows_, std::int64_t elements_)
      : windows(windows_), elements(elements_) {
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? before : after) *= i == axis ? 1 : shape[i];
  }
  ir::Shape all() const { return {before, windows, elements, after}; }
};

// Which elements are in which window.
Ref membership(Composer& to, const View& view, const Windows& windows) {
  const auto of_windows = [&](Ref x) {
    return to.add(ir::Expand{view.all()}, {to.add(ir::Reshape{{1, view.windows, 1, 1}}, {x})});
  };
  const auto element =
      to.add(ir::Expand{view.all()},
             {to.add(ir::Reshape{{1, 1, view.elements, 1}}, {to.add(ir::Iota{DType::i64, view.elements}, {})})});
  return to.add(PointwiseFn::bool_and, {to.add(PointwiseFn::lower_equal, {of_windows(windows.begin), element}),
                                        to.add(PointwiseFn::lower, {element, of_windows(windows.end)})});
}

Ref divisor(Composer& to, const View& view, const Windows& windows, DType dtype) {
  const auto sizes = to.cast(to.add(ir::Reshape{{1, view.windows, 1, 1}}, {windows.size}), DType::i64, dtype);
  return to.add(ir::Expand{{view.before, view.windows, 1, view.after}}, {sizes});
}

// [... elements ...] -> [... windows ...] along each of the last dims. make(dim, elements, windows) gives the windows.
template <typename Make>
Ref mean(Composer& to, Ref x, ir::Shape shape, const ir::Shape& result, DType dtype, const Make& make) {
  const auto c = ir::compute_dtype(dtype);
  if (ir::num_elements(result) == 0) return to.filled(dtype, 0, result);
  x = to.cast(x, dtype, c);
  for (int axis = 2; axis < shape.rank(); ++axis) {
    const View view(shape, axis, result[axis], shape[axis]);
    const Windows windows = make(axis - 2, view.elements, view.windows);
    x = to.add(ir::Reshape{{view.before, 1, view.elements, view.after}}, {x});
    x = to.add(ir::Expand{view.all()}, {x});
    x = to.add(PointwiseFn::select, {membership(to, view, windows), x, to.number(c, 0)});
    x = to.add(ir::Reduce{ir::ReduceFn::sum, {2}}, {x});
    x = to.add(PointwiseFn::div, {x, divisor(to, view, windows, c)});
    shape[axis] = result[axis];
    x = to.add(ir::Reshape{shape}, {x});
  }
  return to.cast(x, c, dtype);
}

// The adjoint: [... windows ...] -> [... elements ...].
template <typename Make>
Ref spread_mean(Composer& to, Ref g, ir::Shape shape, const ir::Shape& result, DType dtype, const Make& make) {
  const auto c = ir::compute_dtype(dtype);
  if (ir::num_elements(result) == 0 || ir::num_elements(shape) == 0) return to.filled(dtype, 0, result);
  g = to.cast(g, dtype, c);
  for (int axis = 2; axis < shape.rank(); ++axis) {
    const View view(shape, axis, shape[axis], result[axis]);
    const Windows windows = make(axis - 2, view.elements, view.windows);
    g = to.add(ir::Reshape{{view.before, view.windows, 1, view.after}}, {g});
    g = to.add(PointwiseFn::div, {g, divisor(to, view, windows, c)});
    g = to.add(ir::Expand{view.all()}, {g});
    g = to.add(PointwiseFn::select, {membership(to, view, windows), g, to.number(c, 0)});
    g = to.add(ir::Reduce{ir::ReduceFn::sum, {1}}, {g});
    shape[axis] = result[axis];
    g = to.add(ir::Reshape{shape}, {g});
  }
  return to.cast(g, c, dtype);
}

// A shape with other spatial dims.
ir::Shape with_spatial(const ir::Shape& shape, const ir::Dims& sizes) {
  ir::Shape result{shape[0], shape[1]};
  for (const auto size : sizes) result.push_back(size);
  return result;
}

ir::Shape result_shape(const ir::Op& op, const ir::TensorType& x) {
  const ir::TensorType* operand = &x;
  const auto type = ir::infer(op, {&operand, 1});
  return type.ok() ? type.value()[0].shape : x.shape;  // it was inferred before: it is ok
}

}  // namespace

Results compose(Composer& to, const ir::AvgPool& op, Operands in) {
  const auto x = to.type_of(in[0]);
  return {mean(to, in[0], x.shape, result_shape(op, x), x.dtype, [&](int dim, std::int64_t input, std::int64_t count) {
    return sliding_windows(to, op, dim, input, count);
  })};
}

Results compose(Composer& to, const ir::AvgPoolGrad& op, Operands in) {
  const auto g = to.type_of(in[0]);
  const ir::AvgPool forward{op.kernel, op.stride, op.padding, op.count_include_pad, op.ceil_mode};
  return {spread_mean(to, in[0], g.shape, with_spatial(g.shape, op.input_size), g.dtype,
                      [&](int dim, std::int64_t input, std::int64_t count) {
                        return sliding_windows(to, forward, dim, input, count);
                      })};
}

Results compose(Composer& to, const ir::AdaptiveAvgPool& op, Operands in) {
  const auto x = to.type_of(in[0]);
  return {mean(to, in[0], x.shape, with_spatial(x.shape, op.output_size), x.dtype,
               [&](int, std::int64_t input, std::int64_t count) { return adaptive_windows(to, input, count); })};
}

Results compose(Composer& to, const ir::AdaptiveAvgPoolGrad& op, Operands in) {
  const auto g = to.type_of(in[0]);
  return {spread_mean(to, in[0], g.shape, with_spatial(g.shape, op.input_size), g.dtype,
                      [&](int, std::int64_t input, std::int64_t count) { return adaptive_windows(to, input, count); })};
}

}  // namespace burn::compile::decomposition
