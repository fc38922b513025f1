// Fourier transforms by their definition, one sum per result.
#include <cmath>
#include <numbers>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

// Calls body(index with 0 at the axis) for each line.
template <typename Body>
void for_each_line(ir::Shape shape, int axis, const Body& body) {
  shape[axis] = 1;
  for_each_index(shape, body);
}

double at(const Tensor& x, ir::Dims index, int axis, std::int64_t i) {
  index[axis] = i;
  return x.get<double>(position(x.type.shape, index));
}

// sum over j < n of (re[j] + i im[j]) e^(sign 2 pi i j k / n)
struct Sum {
  double re = 0, im = 0;
  void add(double a, double b, std::int64_t j, std::int64_t k, std::int64_t n, double sign) {
    const double angle = sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
    re += a * std::cos(angle) - b * std::sin(angle);
    im += a * std::sin(angle) + b * std::cos(angle);
  }
};

}  // namespace

std::vector<Tensor> evaluate(const ir::Fft& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor re(type), im(type);
  const int axis = static_cast<int>(op.axis);
  const auto n = type.shape[axis];
  for_each_line(type.shape, axis, [&](const ir::Dims& index) {
    for (std::int64_t k = 0; k < n; ++k) {
      Sum sum;
      for (std::int64_t j = 0; j < n; ++j)
        sum.add(at(*in[0], index, axis, j), at(*in[1], index, axis, j), j, k, n, op.inverse ? 1 : -1);
      ir::Dims to = index;
      to[axis] = k;
      re.set(position(type.shape, to), sum.re);
      im.set(position(type.shape, to), sum.im);
    }
  });
  return {re, im};
}

std::vector<Tensor> evaluate(const ir::RealFft& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor re(type), im(type);
  const int axis = static_cast<int>(op.axis);
  const auto n = in[0]->type.shape[axis];
  for_each_line(type.shape, axis, [&](const ir::Dims& index) {
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      Sum sum;
      for (std::int64_t j = 0; j < n; ++j) sum.add(at(*in[0], index, axis, j), 0, j, k, n, -1);
      ir::Dims to = index;
      to[axis] = k;
      re.set(position(type.shape, to), sum.re);
      im.set(position(type.shape, to), sum.im);
    }
  });
  return {re, im};
}

Tensor evaluate(const ir::InverseRealFft& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  const int axis = static_cast<int>(op.axis);
  const auto n = op.length;
  for_each_line(type.shape, axis, [&](const ir::Dims& index) {
    for (std::int64_t j = 0; j < n; ++j) {
      Sum sum;
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        const bool is_end = k == 0 || 2 * k == n;
        const double times = is_end ? 1 : 2;
        sum.add(times * at(*in[0], index, axis, k), is_end ? 0 : times * at(*in[1], index, axis, k), j, k, n, 1);
      }
      ir::Dims to = index;
      to[axis] = j;
      y.set(position(type.shape, to), sum.re);
    }
  });
  return y;
}

}  // namespace burn::reference::rules
