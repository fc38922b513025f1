// Ops that combine or compare elements along axes, and the matrix product.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

template <typename T>
T combine(ir::ReduceFn fn, T a, T b) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return static_cast<T>(a + b);
    case ir::ReduceFn::prod:
      return static_cast<T>(a * b);
    case ir::ReduceFn::max:
      return larger(a, b);
    case ir::ReduceFn::min:
      return smaller(a, b);
  }
  return a;
}

// The reduction of no elements: only sum, prod, any and all have a result.
template <typename T>
T identity(ir::ReduceFn fn) {
  return static_cast<T>(fn == ir::ReduceFn::prod || fn == ir::ReduceFn::min);
}

// NaN is the largest.
template <typename T>
bool is_less(T a, T b) {
  if (b != b) return a == a;  // NOLINT(misc-redundant-expression): false for NaN
  return a < b;
}

// The lines of x along an axis: calls body(positions in x of the line's elements, index with 0 at axis).
template <typename Body>
void for_each_line(const ir::Shape& shape, int axis, const Body& body) {
  ir::Shape others = shape;
  others[axis] = 1;
  for_each_index(others, [&](ir::Dims index) {
    std::vector<std::size_t> line;
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      index[axis] = i;
      line.push_back(position(shape, index));
    }
    index[axis] = 0;
    body(line, index);
  });
}

}  // namespace

Tensor evaluate(const ir::Reduce& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  Tensor y(type);
  visit_kind(type.dtype, [&]<typename T>() {
    std::vector<T> totals(y.size(), identity<T>(op.fn));
    std::vector<bool> started(y.size());
    for_each_index(x.type.shape, [&](const ir::Dims& index) {
      ir::Dims kept = index;
      for (const auto axis : op.axes) kept[static_cast<int>(axis)] = 0;
      const auto to = position(type.shape, kept);
      const T value = x.get<T>(position(x.type.shape, index));
      totals[to] = started[to] ? combine<T>(op.fn, totals[to], value) : value;
      started[to] = true;
    });
    for (std::size_t i = 0; i < y.size(); ++i) y.set<T>(i, totals[i]);
  });
  return y;
}

Tensor evaluate(const ir::ArgReduce& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  Tensor y(type);
  visit_kind(x.type.dtype, [&]<typename T>() {
    for_each_line(x.type.shape, static_cast<int>(op.axis), [&](const auto& line, const ir::Dims& index) {
      std::size_t best = 0;
      for (std::size_t i = 0; i < line.size(); ++i) {
        const T value = x.get<T>(line[i]), champion = x.get<T>(line[best]);
        if (is_nan(champion)) break;
        if (is_nan(value) || (op.fn == ir::ArgFn::max ? value > champion : value < champion)) best = i;
      }
      y.set(position(type.shape, index), static_cast<std::int64_t>(best));
    });
  });
  return y;
}

Tensor evaluate(const ir::Scan& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  Tensor y(type);
  visit_kind(type.dtype, [&]<typename T>() {
    for_each_line(x.type.shape, static_cast<int>(op.axis), [&](const auto& line, const ir::Dims&) {
      T total{};
      for (std::size_t i = 0; i < line.size(); ++i) {
        const T value = x.get<T>(line[i]);
        total = i == 0 ? value : combine<T>(op.fn, total, value);
        y.set<T>(line[i], total);
      }
    });
  });
  return y;
}

// The first elements of each line in order, as many as `type` has, and their indices.
std::vector<Tensor> in_order(const Tensor& x, int axis, bool descending, const ir::TensorType& type) {
  Tensor values(type), indices({ir::DType::i64, type.shape});
  visit_kind(x.type.dtype, [&]<typename T>() {
    for_each_line(x.type.shape, axis, [&](const auto& line, ir::Dims to) {
      std::vector<std::size_t> order(line.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const T first = x.get<T>(line[a]), second = x.get<T>(line[b]);
        return descending ? is_less(second, first) : is_less(first, second);
      });
      for (to[axis] = 0; to[axis] < type.shape[axis]; ++to[axis]) {
        const auto from = order[static_cast<std::size_t>(to[axis])], at = position(type.shape, to);
        values.bits[at] = x.bits[line[from]];
        indices.set(at, static_cast<std::int64_t>(from));
      }
    });
  });
  return {values, indices};
}

std::vector<Tensor> evaluate(const ir::Sort& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return in_order(*in[0], static_cast<int>(op.axis), op.descending, type);
}

std::vector<Tensor> evaluate(const ir::TopK& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return in_order(*in[0], static_cast<int>(op.axis), op.largest, type);
}

Tensor evaluate(const ir::MatMul&, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor &a = *in[0], &b = *in[1];
  Tensor y(type);
  const int last = type.shape.rank() - 1;
  visit_kind(type.dtype, [&]<typename T>() {
    for_each_index(type.shape, [&](const ir::Dims& index) {
      T sum{};
      ir::Dims from_a = index, from_b = index;
      for (std::int64_t k = 0; k < a.type.shape[last]; ++k) {
        from_a[last] = k;
        from_b[last - 1] = k;
        sum = static_cast<T>(sum + a.get<T>(position(a.type.shape, from_a)) * b.get<T>(position(b.type.shape, from_b)));
      }
      y.set<T>(position(type.shape, index), sum);
    });
  });
  return y;
}

}  // namespace burn::reference::rules
