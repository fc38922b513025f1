// Attention with all its scores in memory, query by query.
#include <cmath>
#include <limits>
#include <utility>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

struct Problem {
  std::int64_t batch = 1, n, m, d, e;
  double scale;
  bool causal;
  const Tensor *q, *k, *v, *mask = nullptr, *bias = nullptr;

  template <typename Op>
  Problem(const Op& op, Operands in, std::size_t required)
      : scale(op.scale), causal(op.causal), q(in[0]), k(in[1]), v(in[2]) {
    const ir::Shape &of_q = q->type.shape, &of_v = v->type.shape;
    const int rank = of_q.rank();
    n = of_q[rank - 2], d = of_q[rank - 1], m = of_v[rank - 2], e = of_v[rank - 1];
    for (int i = 0; i < rank - 2; ++i) batch *= of_q[i];
    for (const auto* x : in.subspan(required)) (ir::is_bool(x->type.dtype) ? mask : bias) = x;
  }

  static double at(const Tensor& x, std::int64_t i) { return x.get<double>(static_cast<std::size_t>(i)); }
  double q_at(std::int64_t b, std::int64_t i, std::int64_t c) const { return at(*q, (b * n + i) * d + c); }
  double k_at(std::int64_t b, std::int64_t j, std::int64_t c) const { return at(*k, (b * m + j) * d + c); }
  double v_at(std::int64_t b, std::int64_t j, std::int64_t c) const { return at(*v, (b * m + j) * e + c); }

  bool is_hidden(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return (causal && j > i + m - n) || (mask && mask->get<bool>(static_cast<std::size_t>((b * n + i) * m + j)));
  }

  // The weights of query i over the keys, all 0 if every key is hidden; and the logarithm of the sum of the scores'
  // exponentials.
  std::pair<std::vector<double>, double> probabilities(std::int64_t b, std::int64_t i) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> p(static_cast<std::size_t>(m));
    double largest = -kInfinity, sum = 0;
    for (std::int64_t j = 0; j < m; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d; ++c) score += q_at(b, i, c) * k_at(b, j, c);
      score = score * scale + (bias ? at(*bias, (b * n + i) * m + j) : 0);
      if (is_hidden(b, i, j)) score = -kInfinity;
      largest = larger(largest, score);
      p[static_cast<std::size_t>(j)] = score;
    }
    for (auto& x : p) sum += x = x == -kInfinity ? 0 : std::exp(x - largest);
    for (auto& x : p) x = sum == 0 ? 0 : x / sum;
    return {p, sum == 0 ? -kInfinity : largest + std::log(sum)};
  }
};

}  // namespace

std::vector<Tensor> evaluate(const ir::Attention& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Problem x(op, in, 3);
  ir::TensorType rows{ir::compute_dtype(type.dtype), type.shape};
  rows.shape[rows.shape.rank() - 1] = 1;
  Tensor y(type), statistics(rows);
  for (std::int64_t b = 0; b < x.batch; ++b) {
    for (std::int64_t i = 0; i < x.n; ++i) {
      const auto [p, log_sum] = x.probabilities(b, i);
      statistics.set(static_cast<std::size_t>(b * x.n + i), log_sum);
      for (std::int64_t c = 0; c < x.e; ++c) {
        double sum = 0;
        for (std::int64_t j = 0; j < x.m; ++j) sum += p[static_cast<std::size_t>(j)] * x.v_at(b, j, c);
        y.set(static_cast<std::size_t>((b * x.n + i) * x.e + c), sum);
      }
    }
  }
  return {y, statistics};
}

std::vector<Tensor> evaluate(const ir::AttentionGrad& op, const ir::TensorType&, Operands in, const Bindings&) {
  const Problem x(op, in, 6);
  std::vector<double> dq(in[0]->size()), dk(in[1]->size()), dv(in[2]->size());
  const auto at = [](std::vector<double>& sums, std::int64_t row, std::int64_t columns,
                     std::int64_t column) -> double& { return sums[static_cast<std::size_t>(row * columns + column)]; };
  for (std::int64_t b = 0; b < x.batch; ++b) {
    for (std::int64_t i = 0; i < x.n; ++i) {
      const auto p = x.probabilities(b, i).first;
      const auto g = [&](std::int64_t c) { return Problem::at(*in[5], (b * x.n + i) * x.e + c); };
      double mean = 0;
      for (std::int64_t c = 0; c < x.e; ++c) mean += Problem::at(*in[3], (b * x.n + i) * x.e + c) * g(c);
      for (std::int64_t j = 0; j < x.m; ++j) {
        const double of_key = p[static_cast<std::size_t>(j)];
        double dp = 0;
        for (std::int64_t c = 0; c < x.e; ++c) {
          dp += g(c) * x.v_at(b, j, c);
          at(dv, b * x.m + j, x.e, c) += of_key * g(c);
        }
        const double ds = of_key * (dp - mean) * x.scale;
        for (std::int64_t c = 0; c < x.d; ++c) {
          at(dq, b * x.n + i, x.d, c) += ds * x.k_at(b, j, c);
          at(dk, b * x.m + j, x.d, c) += ds * x.q_at(b, i, c);
        }
      }
    }
  }
  std::vector<Tensor> results{Tensor(in[0]->type), Tensor(in[1]->type), Tensor(in[2]->type)};
  const std::vector<double>* const sums[] = {&dq, &dk, &dv};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < sums[k]->size(); ++i) results[k].set(i, (*sums[k])[i]);
  }
  return results;
}

}  // namespace burn::reference::rules
