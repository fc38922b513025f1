// Factorisations in the plainest way that works, in double: elimination, Gram-Schmidt twice, rotations until nothing is
// left to rotate.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> a;

  Matrix(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), a(static_cast<std::size_t>(rows * columns)) {}
  double& operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return a[static_cast<std::size_t>(i * columns + j)]; }
  bool is_finite() const {
    return std::ranges::all_of(a, [](double x) { return std::isfinite(x); });
  }
  void fill(double x) { std::ranges::fill(a, x); }
};

std::int64_t rows_of(const Tensor& x) { return x.type.shape[x.type.shape.rank() - 2]; }
std::int64_t columns_of(const Tensor& x) { return x.type.shape.back(); }
std::int64_t count_of(const Tensor& x) {
  std::int64_t count = 1;
  for (int i = 0; i < x.type.shape.rank() - 2; ++i) count *= x.type.shape[i];
  return count;
}

Matrix matrix(const Tensor& x, std::int64_t k) {
  Matrix m(rows_of(x), columns_of(x));
  for (std::size_t i = 0; i < m.a.size(); ++i) m.a[i] = x.get<double>(static_cast<std::size_t>(k) * m.a.size() + i);
  return m;
}
void put(Tensor& y, std::int64_t k, const std::vector<double>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) y.set(static_cast<std::size_t>(k) * from.size() + i, from[i]);
}

ir::TensorType with(const ir::TensorType& x, std::initializer_list<std::int64_t> sizes) {
  ir::Shape shape(x.shape.span().first(static_cast<std::size_t>(x.shape.rank() - 2)));
  for (const auto size : sizes) shape.push_back(size);
  return {x.dtype, shape};
}

struct Elimination {
  Matrix lu;
  std::vector<std::int64_t> permutation;
  double sign = 1;
};

Elimination eliminate(Matrix m) {
  std::vector<std::int64_t> permutation(static_cast<std::size_t>(m.rows));
  std::iota(permutation.begin(), permutation.end(), std::int64_t{0});
  double sign = 1;
  for (std::int64_t k = 0; k < std::min(m.rows, m.columns); ++k) {
    auto best = k;
    for (auto i = k + 1; i < m.rows; ++i) {
      if (std::abs(m(i, k)) > std::abs(m(best, k))) best = i;
    }
    if (best != k) {
      for (std::int64_t j = 0; j < m.columns; ++j) std::swap(m(k, j), m(best, j));
      std::swap(permutation[static_cast<std::size_t>(k)], permutation[static_cast<std::size_t>(best)]);
      sign = -sign;
    }
    if (m(k, k) == 0) continue;
    for (auto i = k + 1; i < m.rows; ++i) {
      m(i, k) /= m(k, k);
      for (auto j = k + 1; j < m.columns; ++j) m(i, j) -= m(i, k) * m(k, j);
    }
  }
  return {std::move(m), std::move(permutation), sign};
}

// The eigenvalues and, in the columns of v, the eigenvectors of a symmetric matrix: Jacobi's rotations.
std::vector<double> eigenvalues(Matrix a, Matrix& v) {
  const auto n = a.rows;
  for (std::int64_t i = 0; i < n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::int64_t p = 0; p < n; ++p) {
      for (auto q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const double theta = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p)), c = std::cos(theta), s = std::sin(theta);
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y;
          a(k, q) = s * x + c * y;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y;
          a(q, k) = s * x + c * y;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = v(k, p), y = v(k, q);
          v(k, p) = c * x - s * y;
          v(k, q) = s * x + c * y;
        }
      }
    }
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(a(i, i));
  return values;
}

// The order that sorts `values`, as indices of the columns that belong to them.
std::vector<std::size_t> order_of(const std::vector<double>& values, bool descending) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return descending ? values[a] > values[b] : values[a] < values[b]; });
  return order;
}

// Makes column j of q orthogonal to the columns before it and of length 1; returns its previous length.
double orthonormalise(Matrix& q, std::int64_t j) {
  const auto dot = [&](std::int64_t a, std::int64_t b) {
    double sum = 0;
    for (std::int64_t i = 0; i < q.rows; ++i) sum += q(i, a) * q(i, b);
    return sum;
  };
  for (int twice = 0; twice < 2; ++twice) {
    for (std::int64_t k = 0; k < j; ++k) {
      const double along = dot(k, j);
      for (std::int64_t i = 0; i < q.rows; ++i) q(i, j) -= along * q(i, k);
    }
  }
  const double length = std::sqrt(dot(j, j));
  for (std::int64_t i = 0; i < q.rows; ++i) q(i, j) /= length;
  return length;
}

Matrix divide(const Matrix& a, Matrix b, bool lower, bool unit) {
  const auto n = a.rows;
  for (std::int64_t c = 0; c < b.columns; ++c) {
    for (std::int64_t step = 0; step < n; ++step) {
      const auto i = lower ? step : n - 1 - step;
      for (std::int64_t j = 0; j < n; ++j) {
        if (lower ? j < i : j > i) b(i, c) -= a(i, j) * b(j, c);
      }
      if (!unit) b(i, c) /= a(i, i);
    }
  }
  return b;
}

}  // namespace

Tensor evaluate(const ir::Cholesky&, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  for (std::int64_t k = 0; k < count_of(y); ++k) {
    Matrix l = matrix(*in[0], k);
    for (std::int64_t j = 0; j < l.rows; ++j) {
      for (std::int64_t i = 0; i < l.rows; ++i) {
        if (i < j) {
          l(i, j) = 0;
          continue;
        }
        for (std::int64_t m = 0; m < j; ++m) l(i, j) -= l(i, m) * l(j, m);
        if (i == j && !(l(j, j) > 0)) throw std::out_of_range("not positive definite");
        l(i, j) = i == j ? std::sqrt(l(j, j)) : l(i, j) / l(j, j);
      }
    }
    put(y, k, l.a);
  }
  return y;
}

std::vector<Tensor> evaluate(const ir::Lu&, const ir::TensorType& type, Operands in, const Bindings&) {
  auto permutation_type = with(type, {type.shape[type.shape.rank() - 2]});
  permutation_type.dtype = ir::DType::i64;
  Tensor y(type), permutation(permutation_type), sign(with(type, {}));
  for (std::int64_t k = 0; k < count_of(y); ++k) {
    const auto found = eliminate(matrix(*in[0], k));
    put(y, k, found.lu.a);
    for (std::size_t i = 0; i < found.permutation.size(); ++i)
      permutation.set(static_cast<std::size_t>(k) * found.permutation.size() + i, found.permutation[i]);
    sign.set(static_cast<std::size_t>(k), found.sign);
  }
  return {y, permutation, sign};
}

// For matrices whose columns are independent.
std::vector<Tensor> evaluate(const ir::Qr&, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  Tensor q(type), r(with(type, {type.shape.back(), columns_of(x)}));
  for (std::int64_t m = 0; m < count_of(x); ++m) {
    const Matrix a = matrix(x, m);
    Matrix left(a.rows, type.shape.back()), right(left.columns, a.columns);
    for (std::int64_t j = 0; j < left.columns; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) left(i, j) = j < a.columns ? a(i, j) : i == j;
      orthonormalise(left, j);
    }
    for (std::int64_t i = 0; i < right.rows; ++i) {
      for (auto j = i; j < right.columns; ++j) {
        for (std::int64_t k = 0; k < a.rows; ++k) right(i, j) += left(k, i) * a(k, j);
      }
    }
    put(q, m, left.a);
    put(r, m, right.a);
  }
  return {q, r};
}

std::vector<Tensor> evaluate(const ir::Svd&, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  const auto least = type.shape.back(), rows = rows_of(x), columns = columns_of(x);
  Tensor u(type), s(with(type, {least})), vt(with(type, {least, columns}));
  for (std::int64_t m = 0; m < count_of(x); ++m) {
    const Matrix a = matrix(x, m);
    Matrix left(rows, least), right(least, columns);
    std::vector<double> values(static_cast<std::size_t>(least), std::numeric_limits<double>::quiet_NaN());
    if (!a.is_finite()) {
      left.fill(std::numeric_limits<double>::quiet_NaN());
      right.fill(std::numeric_limits<double>::quiet_NaN());
    } else {
      // Eigenvectors of the smaller of a a^T and a^T a, from which the other vectors follow. For matrices of full rank.
      const bool is_wide = columns > rows;
      Matrix square(least, least), v(least, least);
      for (std::int64_t i = 0; i < least; ++i) {
        for (std::int64_t j = 0; j < least; ++j) {
          for (std::int64_t k = 0; k < std::max(rows, columns); ++k)
            square(i, j) += is_wide ? a(i, k) * a(j, k) : a(k, i) * a(k, j);
        }
      }
      const auto squares = eigenvalues(square, v);
      const auto order = order_of(squares, true);
      for (std::int64_t k = 0; k < least; ++k) {
        const auto from = order[static_cast<std::size_t>(k)];
        const double value = std::sqrt(std::max(squares[from], 0.0));
        values[static_cast<std::size_t>(k)] = value;
        for (std::int64_t i = 0; i < least; ++i) {
          const double known = v(i, static_cast<std::int64_t>(from));
          if (is_wide) {
            left(i, k) = known;
            for (std::int64_t j = 0; j < columns; ++j) right(k, j) += known * a(i, j) / value;
          } else {
            right(k, i) = known;
            for (std::int64_t j = 0; j < rows; ++j) left(j, k) += known * a(j, i) / value;
          }
        }
      }
    }
    put(u, m, left.a);
    put(s, m, values);
    put(vt, m, right.a);
  }
  return {u, s, vt};
}

std::vector<Tensor> evaluate(const ir::Eigh&, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& x = *in[0];
  const auto n = columns_of(x);
  Tensor values(type), vectors(x.type);
  for (std::int64_t m = 0; m < count_of(x); ++m) {
    Matrix a = matrix(x, m), v(n, n), sorted(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) a(j, i) = a(i, j);
    }
    std::vector<double> found(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
    if (!a.is_finite()) {
      sorted.fill(std::numeric_limits<double>::quiet_NaN());
    } else {
      const auto unsorted = eigenvalues(a, v);
      const auto order = order_of(unsorted, false);
      for (std::int64_t k = 0; k < n; ++k) {
        const auto from = order[static_cast<std::size_t>(k)];
        found[static_cast<std::size_t>(k)] = unsorted[from];
        for (std::int64_t i = 0; i < n; ++i) sorted(i, k) = v(i, static_cast<std::int64_t>(from));
      }
    }
    put(values, m, found);
    put(vectors, m, sorted.a);
  }
  return {values, vectors};
}

Tensor evaluate(const ir::Solve&, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  for (std::int64_t k = 0; k < count_of(*in[0]); ++k) {
    const auto found = eliminate(matrix(*in[0], k));
    const Matrix b = matrix(*in[1], k);
    Matrix x(b.rows, b.columns);
    for (std::int64_t i = 0; i < b.rows; ++i) {
      if (found.lu(i, i) == 0) throw std::out_of_range("singular");
      for (std::int64_t j = 0; j < b.columns; ++j) x(i, j) = b(found.permutation[static_cast<std::size_t>(i)], j);
    }
    put(y, k, divide(found.lu, divide(found.lu, x, true, true), false, false).a);
  }
  return y;
}

Tensor evaluate(const ir::SolveTriangular& op, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  for (std::int64_t k = 0; k < count_of(*in[0]); ++k)
    put(y, k, divide(matrix(*in[0], k), matrix(*in[1], k), op.lower, op.unit).a);
  return y;
}

Tensor evaluate(const ir::Det&, const ir::TensorType& type, Operands in, const Bindings&) {
  Tensor y(type);
  for (std::int64_t k = 0; k < count_of(*in[0]); ++k) {
    const auto found = eliminate(matrix(*in[0], k));
    double product = found.sign;
    for (std::int64_t i = 0; i < found.lu.rows; ++i) product *= found.lu(i, i);
    y.set(static_cast<std::size_t>(k), product);
  }
  return y;
}

}  // namespace burn::reference::rules
