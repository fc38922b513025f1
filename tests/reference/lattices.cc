// Recurrences element by element, each sum in one piece.
#include <cmath>
#include <limits>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

double log_sum(const std::vector<double>& terms) {
  double largest = kNothing;
  for (const double term : terms) largest = std::max(largest, term);
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

}  // namespace

Tensor evaluate(const ir::BandedScan& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const auto n = type.shape[0], rows = type.shape[1], width = type.shape[2], band = in[1]->type.shape[2];
  Tensor y(type);
  std::vector<double> values(y.size());
  for (std::int64_t s = 0; s < n; ++s) {
    for (std::int64_t step = 0; step < rows; ++step) {
      const auto t = op.adjoint ? rows - 1 - step : step;
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = position(type.shape, {s, t, i});
        std::vector<double> terms{in[0]->get<double>(at)};
        for (std::int64_t j = 0; j < band; ++j) {
          const auto row = op.adjoint ? t + 1 : t - 1, column = op.adjoint ? i + j : i - j;
          if (row < 0 || row >= rows || column < 0 || column >= width) continue;
          const auto weight = in[1]->get<double>(op.adjoint ? position(in[1]->type.shape, {s, t + 1, j, i + j})
                                                            : position(in[1]->type.shape, {s, t, j, i}));
          const auto other = values[position(type.shape, {s, row, column})];
          terms.push_back(op.semiring == ir::Semiring::log ? weight + other : weight * other);
        }
        double sum = 0;
        for (const double term : terms) sum += term;
        values[at] = op.semiring == ir::Semiring::log ? log_sum(terms) : sum;
      }
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) y.set(i, values[i]);
  return y;
}

}  // namespace burn::reference::rules
