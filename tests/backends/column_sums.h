// Programs with sums over all rows of what a group computes.
#pragma once

#include <vector>

#include "ir/program.h"

namespace burn::testing {

class ColumnSumsWriter {
 public:
  ir::Ref input(ir::DType dtype, const ir::Shape& shape) { return builder_.add_input({dtype, shape}); }
  ir::Ref add(const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return *builder_.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 7});
  }
  ir::Ref add(ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  ir::Ref sum(ir::Ref x, const ir::Dims& axes) { return add(ir::Reduce{ir::ReduceFn::sum, axes}, {x}); }
  ir::Ref expand(ir::Ref x, const ir::Shape& shape) { return add(ir::Expand{shape}, {x}); }
  ir::Program finish(std::vector<ir::Ref> outputs) { return builder_.finish(std::move(outputs)); }

 private:
  ir::ProgramBuilder builder_;
};

// The gradient of a norm, as far as it matters here: what comes back is scaled, its mean along each row is taken away,
// and what was scaled is summed for the gradients of scale and offset.
inline ir::Program norm_program(const ir::Shape& shape, ir::DType dtype) {
  ColumnSumsWriter w;
  const auto last = shape.rank() - 1;
  auto line = ir::Shape::filled(shape.rank(), 1);
  line[last] = shape[last];
  auto first_axes = ir::Dims::filled(last, 0);
  for (int d = 0; d < last; ++d) first_axes[d] = d;
  const auto grad = w.input(dtype, shape), x = w.input(ir::DType::f32, shape), scale = w.input(ir::DType::f32, line);
  const auto wide = w.add(ir::Cast{ir::DType::f32}, {grad});
  const auto scaled = w.add(ir::PointwiseFn::mul, {wide, w.expand(scale, shape)});
  const auto row = w.expand(w.sum(scaled, {last}), shape);
  const auto back = w.add(ir::PointwiseFn::sub, {scaled, row});
  const auto of_scale = w.sum(w.add(ir::PointwiseFn::mul, {wide, x}), first_axes);
  const auto narrow = w.add(ir::Cast{dtype}, {back});
  return w.finish({back, of_scale, w.sum(wide, first_axes), w.sum(narrow, first_axes)});
}

// An activation's gradient, whose sum over the rows is a bias's: no rows of its own.
inline ir::Program activation_program(std::int64_t rows, std::int64_t columns) {
  ColumnSumsWriter w;
  const auto grad = w.input(ir::DType::f32, {rows, columns}), x = w.input(ir::DType::f32, {rows, columns});
  const auto y = w.add(ir::PointwiseFn::mul, {grad, w.add(ir::PointwiseFn::tanh, {x})});
  return w.finish({y, w.sum(y, {0})});
}

}  // namespace burn::testing
