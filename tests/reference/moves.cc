// Ops that only move elements, or combine them where they meet.
#include <stdexcept>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

// y's elements from x's, by a function from an index of y to one of x.
template <typename Source>
Tensor taken(const ir::TensorType& type, const Tensor& x, const Source& source) {
  Tensor y(type);
  for_each_index(type.shape, [&](const ir::Dims& index) {
    y.bits[position(type.shape, index)] = x.bits[position(x.type.shape, source(index))];
  });
  return y;
}

std::int64_t checked_index(const Tensor& index, std::size_t i, std::int64_t size) {
  const auto value = index.get<std::int64_t>(i);
  if (value < 0 || value >= size) throw std::out_of_range("index " + std::to_string(value));
  return value;
}

template <typename T>
T scatter_value(ir::ScatterFn fn, T a, T b) {
  switch (fn) {
    case ir::ScatterFn::assign:
      return b;
    case ir::ScatterFn::add:
      return static_cast<T>(a + b);
    case ir::ScatterFn::mul:
      return static_cast<T>(a * b);
    case ir::ScatterFn::max:
      return larger(a, b);
    case ir::ScatterFn::min:
      return smaller(a, b);
  }
  return a;
}

}  // namespace

Tensor evaluate(const ir::Reshape&, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  y.bits = in[0]->bits;
  return y;
}

Tensor evaluate(const ir::Place&, const ir::TensorType&, Operands in, const Bindings&) { return *in[0]; }

Tensor evaluate(const ir::Permute& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return taken(type, *in[0], [&](const ir::Dims& index) {
    ir::Dims from = index;
    for (int i = 0; i < index.rank(); ++i) from[static_cast<int>(op.axes[i])] = index[i];
    return from;
  });
}

Tensor evaluate(const ir::Expand&, const ir::TensorType& type, Operands in, const Bindings&) {
  const ir::Shape& shape = in[0]->type.shape;
  const int added = type.shape.rank() - shape.rank();
  return taken(type, *in[0], [&](const ir::Dims& index) {
    ir::Dims from = ir::Dims::filled(shape.rank(), 0);
    for (int i = 0; i < shape.rank(); ++i) from[i] = shape[i] == 1 ? 0 : index[added + i];
    return from;
  });
}

Tensor evaluate(const ir::Slice& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return taken(type, *in[0], [&](const ir::Dims& index) {
    ir::Dims from = index;
    for (int i = 0; i < index.rank(); ++i) from[i] = op.starts[i] + index[i] * op.steps[i];
    return from;
  });
}

Tensor evaluate(const ir::SliceAssign& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y = *in[0];
  const Tensor& values = *in[1];
  for_each_index(values.type.shape, [&](const ir::Dims& index) {
    ir::Dims to = index;
    for (int i = 0; i < index.rank(); ++i) to[i] = op.starts[i] + index[i] * op.steps[i];
    y.bits[position(type.shape, to)] = values.bits[position(values.type.shape, index)];
  });
  return y;
}

Tensor evaluate(const ir::Concat& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  const int axis = static_cast<int>(op.axis);
  std::int64_t start = 0;
  for (const Tensor* x : in) {
    for_each_index(x->type.shape, [&](const ir::Dims& index) {
      ir::Dims to = index;
      to[axis] += start;
      y.bits[position(type.shape, to)] = x->bits[position(x->type.shape, index)];
    });
    start += x->type.shape[axis];
  }
  return y;
}

Tensor evaluate(const ir::Gather& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor &x = *in[0], &where = *in[1];
  const int axis = static_cast<int>(op.axis);
  return taken(type, x, [&](const ir::Dims& index) {
    ir::Dims from = index;
    from[axis] = checked_index(where, position(type.shape, index), x.type.shape[axis]);
    return from;
  });
}

Tensor evaluate(const ir::Scatter& op, const ir::TensorType& type, Operands in, const Bindings&) {
  // Sums and products of 16-bit floats are rounded at the end.
  const bool accumulates = op.fn == ir::ScatterFn::add || op.fn == ir::ScatterFn::mul;
  Tensor y({accumulates ? ir::compute_dtype(type.dtype) : type.dtype, type.shape});
  y.bits = in[0]->bits;
  const Tensor &where = *in[1], &values = *in[2];
  const int axis = static_cast<int>(op.axis);
  visit_kind(type.dtype, [&]<typename T>() {
    for_each_index(values.type.shape, [&](const ir::Dims& index) {
      const auto i = position(values.type.shape, index);
      ir::Dims target = index;
      target[axis] = checked_index(where, i, type.shape[axis]);
      const auto to = position(type.shape, target);
      y.set<T>(to, scatter_value<T>(op.fn, y.get<T>(to), values.get<T>(i)));
    });
  });
  Tensor result(type);
  for (std::size_t i = 0; i < y.size(); ++i) result.set_bits(i, y.bits[i]);
  return result;
}

}  // namespace burn::reference::rules
