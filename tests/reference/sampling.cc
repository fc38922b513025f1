// Interpolation by its definition: each result adds up the whole line, weighted by a function of distance.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

using ir::InterpolateMode;

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

double cubic(double x) {
  constexpr double a = -0.75;
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

// The weight of each element that result `o` is made of, in a line of `in` that becomes one of `out`.
template <typename Op>
std::vector<std::pair<std::int64_t, double>> weights(const Op& op, std::int64_t in, std::int64_t out, std::int64_t o) {
  const auto inside = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, in - 1); };
  if (op.mode == InterpolateMode::nearest) return {{inside(o * in / out), 1.0}};
  if (op.mode == InterpolateMode::nearest_exact) return {{inside((2 * o + 1) * in / (2 * out)), 1.0}};
  double at = (static_cast<double>(o) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
  if (op.align_corners)
    at = out == 1 ? 0 : static_cast<double>(o) * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  if (op.mode == InterpolateMode::bilinear) at = std::max(at, 0.0);

  const auto whole = static_cast<std::int64_t>(std::floor(at));
  std::vector<std::pair<std::int64_t, double>> result;
  double sum = 0;
  for (auto i = whole - 2; i <= whole + 3; ++i) {
    const double distance = std::abs(at - static_cast<double>(i));
    if (op.mode == InterpolateMode::bilinear && (i == whole || i == whole + 1))
      result.emplace_back(inside(i), 1 - distance);
    if (op.mode == InterpolateMode::bicubic && i > whole - 2 && i < whole + 3)
      result.emplace_back(inside(i), cubic(distance));
    if (op.mode == InterpolateMode::lanczos3 && i == inside(i)) {
      result.emplace_back(i, distance < 3 ? sinc(distance) * sinc(distance / 3) : 0.0);
      sum += result.back().second;
    }
  }
  if (op.mode == InterpolateMode::lanczos3) {
    for (auto& [index, weight] : result) weight /= sum;
  }
  return result;
}

// Calls body(position in the small or large input, position in the output, weight) for every product.
template <typename Op, typename Body>
void for_each_product(const Op& op, const ir::Shape& input, const ir::Shape& output, const Body& body) {
  for_each_index(output, [&](const ir::Dims& to) {
    std::vector<std::pair<ir::Dims, double>> products{{to, 1.0}};
    for (int axis = 2; axis < input.rank(); ++axis) {
      std::vector<std::pair<ir::Dims, double>> next;
      for (const auto& [index, product] : products) {
        for (const auto& [i, weight] : weights(op, input[axis], output[axis], to[axis])) {
          next.emplace_back(index, product * weight);
          next.back().first[axis] = i;
        }
      }
      products = std::move(next);
    }
    for (const auto& [from, product] : products) body(position(input, from), position(output, to), product);
  });
}

Tensor rounded(Tensor result, const std::vector<double>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) result.set(i, sums[i]);
  return result;
}

}  // namespace

Tensor evaluate(const ir::Interpolate& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  std::vector<double> sums(y.size());
  for_each_product(op, in[0]->type.shape, type.shape, [&](std::size_t from, std::size_t to, double weight) {
    sums[to] += weight * in[0]->get<double>(from);
  });
  return rounded(std::move(y), sums);
}

Tensor evaluate(const ir::InterpolateGrad& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor x(type);
  std::vector<double> sums(x.size());
  for_each_product(op, type.shape, in[0]->type.shape, [&](std::size_t to, std::size_t from, double weight) {
    sums[to] += weight * in[0]->get<double>(from);
  });
  return rounded(std::move(x), sums);
}

}  // namespace burn::reference::rules
