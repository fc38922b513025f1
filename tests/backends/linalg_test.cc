// Factorisations at sizes where devices change their ways: by blocks, by a library one by one, or many in one call.
// The catalogue has the small ones. Products are compared on a few vectors, so that large matrices cost little.
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ::testing::HasSubstr;
using Vector = std::vector<double>;

// Matrix `k` of a batch.
class Matrix {
 public:
  Matrix(const reference::Tensor& of, std::int64_t k)
      : of_(&of),
        rows_(of.type.shape[of.type.shape.rank() - 2]),
        columns_(of.type.shape.back()),
        first_(static_cast<std::size_t>(k * rows_ * columns_)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  double at(std::int64_t i, std::int64_t j) const {
    return of_->get<double>(first_ + static_cast<std::size_t>(i * columns_ + j));
  }
  // Rows and columns that `keep(i, j)` says no to are 0.
  template <typename Keep>
  Vector times(const Vector& v, const Keep& keep) const {
    Vector y(static_cast<std::size_t>(rows_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        if (keep(i, j)) y[static_cast<std::size_t>(i)] += at(i, j) * v[static_cast<std::size_t>(j)];
      }
    }
    return y;
  }
  Vector times(const Vector& v) const {
    return times(v, [](auto, auto) { return true; });
  }
  Vector transpose_times(const Vector& v) const {
    Vector y(static_cast<std::size_t>(columns_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j)
        y[static_cast<std::size_t>(j)] += at(i, j) * v[static_cast<std::size_t>(i)];
    }
    return y;
  }
  double norm() const {
    double sum = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) sum += at(i, j) * at(i, j);
    }
    return std::sqrt(sum);
  }

 private:
  const reference::Tensor* of_;
  std::int64_t rows_, columns_;
  std::size_t first_;
};

Vector probe(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Vector v(static_cast<std::size_t>(n));
  for (auto& x : v) x = std::normal_distribution<double>()(random);
  return v;
}

double distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

struct Problem {
  DType dtype;
  std::int64_t count, rows, columns;

  ir::TensorType type() const { return {dtype, {count, rows, columns}}; }
  double epsilon() const {
    return dtype == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  }
  // Of what was multiplied with a probe.
  double tolerance(double norm) const {
    const auto n = static_cast<double>(std::max(rows, columns));
    return 20 * epsilon() * n * (1 + norm);
  }
  std::string text() const { return to_string(type()); }
};

enum class Fill : std::uint8_t { random, symmetric, positive, low_rank };

reference::Tensor made(const Problem& p, Fill fill, unsigned seed = 1) {
  reference::Tensor x(p.type());
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t k = 0; k < p.count; ++k) {
    const Vector u = probe(p.rows, seed + 2), v = probe(p.columns, seed + 3);
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = 0; j < p.columns; ++j) {
        const auto at = static_cast<std::size_t>((k * p.rows + i) * p.columns + j);
        if (fill == Fill::low_rank) {
          x.set(at, u[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)] +
                        static_cast<double>((i % 2) * (j % 3)));
          continue;
        }
        const bool mirrors = fill != Fill::random && j > i;
        x.set(at, normal(random));
        if (mirrors) continue;
        if (fill != Fill::random && j < i)
          x.set_bits(static_cast<std::size_t>((k * p.rows + j) * p.columns + i), x.bits[at]);
        if (fill == Fill::positive && i == j) x.set(at, 4 * std::sqrt(static_cast<double>(p.rows)) + 1);
      }
    }
  }
  return x;
}

// NaN above the diagonals of square matrices, for ops that do not read what lies there.
void spoil_above_diagonal(reference::Tensor& x, const Problem& p) {
  for (std::int64_t k = 0; k < p.count; ++k) {
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = i + 1; j < p.rows; ++j)
        x.set(static_cast<std::size_t>((k * p.rows + i) * p.rows + j), std::nan(""));
    }
  }
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& kind : backends::backend_kinds()) {
    if (kind.computes && kind.name != "null") names.push_back(kind.name);
  }
  return names;
}

class Factors : public ::testing::TestWithParam<std::string> {
 protected:
  using Outputs = std::vector<reference::Tensor>;

  // All results of the op. `transpose`: the first operand is read through a transposed view of what is given.
  Result<Outputs> run(const ir::Op& op, const std::vector<reference::Tensor>& inputs, bool transpose = false) {
    ir::ProgramBuilder builder;
    std::vector<ir::Ref> operands;
    operands.reserve(inputs.size());
    for (const auto& input : inputs) operands.push_back(builder.add_input(input.type));
    if (transpose) operands[0] = builder.add(ir::Permute{{0, 2, 1}}, {&operands[0], 1})->result(0);
    const auto y = *builder.add(op, operands);
    std::vector<ir::Ref> outputs;
    outputs.reserve(static_cast<std::size_t>(ir::result_count(op)));
    for (int k = 0; k < ir::result_count(op); ++k) outputs.push_back(y.result(k));
    return run_program(device_, builder.finish(outputs), inputs);
  }
  Outputs results(const ir::Op& op, const std::vector<reference::Tensor>& inputs) {
    auto found = run(op, inputs);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *std::move(found) : Outputs{};
  }

  bool is_gpu() const { return GetParam() == "cuda"; }
  std::vector<Problem> squares() const {
    std::vector<Problem> all;
    for (const auto dtype : {DType::f32, DType::f64}) {
      for (const std::int64_t n : {1, 2, 31, 48, 64, 97, 128, 200}) all.push_back({dtype, 1, n, n});
      for (const std::int64_t n : {3, 64, 130}) all.push_back({dtype, 17, n, n});
      if (!is_gpu()) continue;
      for (const std::int64_t n : {256, 513, 1024}) all.push_back({dtype, 1, n, n});
      all.push_back({dtype, 6, 300, 300});
      all.push_back({dtype, 100, 48, 48});
    }
    return all;
  }
  std::vector<Problem> rectangles() const {
    auto all = squares();
    for (const auto dtype : {DType::f32, DType::f64}) {
      for (const std::int64_t count : {1, 5}) {
        all.push_back({dtype, count, 300, 130});
        all.push_back({dtype, count, 130, 220});
        all.push_back({dtype, count, 70, 2});
        all.push_back({dtype, count, 1, 40});
      }
    }
    return all;
  }

  TestDevice device_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, Factors, ::testing::ValuesIn(kinds()), [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Factors);

// Q^T Q v = v.
void expect_orthonormal_columns(const Matrix& q, const Problem& p) {
  const auto v = probe(q.columns(), 5);
  EXPECT_LE(distance(q.transpose_times(q.times(v)), v), p.tolerance(1) * 4);
}

TEST_P(Factors, CholeskyMultipliesToTheMatrix) {
  for (const auto& p : squares()) {
    SCOPED_TRACE(p.text());
    auto x = made(p, Fill::positive);
    const auto whole = x;
    spoil_above_diagonal(x, p);
    const auto y = results(ir::Cholesky{}, {x});
    ASSERT_EQ(y.size(), 1u);
    for (std::int64_t k = 0; k < p.count; ++k) {
      const Matrix a(whole, k), l(y[0], k);
      const auto v = probe(p.rows, 7);
      ASSERT_LE(distance(l.times(l.transpose_times(v)), a.times(v)), p.tolerance(a.norm())) << k;
      for (std::int64_t i = 0; i < p.rows; ++i) {
        for (std::int64_t j = i + 1; j < p.rows; ++j) ASSERT_EQ(l.at(i, j), 0) << i << ", " << j;
      }
    }
  }
}

TEST_P(Factors, LuMultipliesToTheMatrixWithRowsExchanged) {
  for (const auto& p : rectangles()) {
    for (const auto fill : {Fill::random, Fill::low_rank}) {
      SCOPED_TRACE(p.text());
      const auto x = made(p, fill);
      const auto y = results(ir::Lu{}, {x});
      ASSERT_EQ(y.size(), 3u);
      for (std::int64_t k = 0; k < p.count; ++k) {
        const Matrix a(x, k), f(y[0], k);
        const auto v = probe(p.columns, 7);
        auto u = f.times(v, [](auto i, auto j) { return j >= i; });
        u.resize(static_cast<std::size_t>(p.columns), 0.0);  // as long as a row of L
        for (std::size_t i = static_cast<std::size_t>(std::min(p.rows, p.columns)); i < u.size(); ++i) u[i] = 0;
        auto lu = f.times(u, [](auto i, auto j) { return j < i; });
        for (std::size_t i = 0; i < lu.size() && i < u.size(); ++i) lu[i] += u[i];
        const auto av = a.times(v);
        Vector exchanged(lu.size());
        std::vector<bool> seen(lu.size());
        int order = 1;
        std::vector<std::int64_t> rows;
        for (std::int64_t i = 0; i < p.rows; ++i) {
          const auto from = y[1].get<std::int64_t>(static_cast<std::size_t>(k * p.rows + i));
          ASSERT_TRUE(from >= 0 && from < p.rows);
          ASSERT_FALSE(seen[static_cast<std::size_t>(from)]);
          seen[static_cast<std::size_t>(from)] = true;
          rows.push_back(from);
          exchanged[static_cast<std::size_t>(i)] = av[static_cast<std::size_t>(from)];
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {  // back into order, one exchange after the other
          while (rows[i] != static_cast<std::int64_t>(i)) {
            std::swap(rows[i], rows[static_cast<std::size_t>(rows[i])]);
            order = -order;
          }
        }
        ASSERT_EQ(y[2].get<double>(static_cast<std::size_t>(k)), order);
        ASSERT_LE(distance(lu, exchanged), p.tolerance(a.norm()) * 4) << k;
        for (std::int64_t i = 0; i < p.rows; ++i) {
          for (std::int64_t j = 0; j < std::min(i, p.columns); ++j) ASSERT_LE(std::abs(f.at(i, j)), 1.001);
        }
      }
    }
  }
}

TEST_P(Factors, QrMultipliesToTheMatrix) {
  for (const auto& p : rectangles()) {
    for (const bool reduced : {true, false}) {
      SCOPED_TRACE(p.text() + (reduced ? "" : " full"));
      const auto x = made(p, Fill::random);
      const auto y = results(ir::Qr{reduced}, {x});
      ASSERT_EQ(y.size(), 2u);
      for (std::int64_t k = 0; k < p.count; ++k) {
        const Matrix a(x, k), q(y[0], k), r(y[1], k);
        const auto v = probe(p.columns, 7);
        ASSERT_LE(distance(q.times(r.times(v)), a.times(v)), p.tolerance(a.norm()) * 4) << k;
        expect_orthonormal_columns(q, p);
        for (std::int64_t i = 0; i < r.rows(); ++i) {
          if (i < r.columns()) ASSERT_GE(r.at(i, i), 0);
          for (std::int64_t j = 0; j < std::min(i, r.columns()); ++j) ASSERT_EQ(r.at(i, j), 0);
        }
      }
    }
  }
}

TEST_P(Factors, SvdMultipliesToTheMatrix) {
  for (const auto& p : rectangles()) {
    for (const auto fill : {Fill::random, Fill::low_rank}) {
      SCOPED_TRACE(p.text() + (fill == Fill::random ? "" : " of low rank"));
      const auto x = made(p, fill);
      const auto y = results(ir::Svd{}, {x});
      ASSERT_EQ(y.size(), 3u);
      const auto least = std::min(p.rows, p.columns);
      for (std::int64_t k = 0; k < p.count; ++k) {
        const Matrix a(x, k), u(y[0], k), vt(y[2], k);
        const auto v = probe(p.columns, 7);
        auto turned = vt.times(v);
        for (std::int64_t i = 0; i < least; ++i) {
          const auto at = static_cast<std::size_t>(k * least + i);
          turned[static_cast<std::size_t>(i)] *= y[1].get<double>(at);
          ASSERT_GE(y[1].get<double>(at), 0);
          if (i > 0) ASSERT_LE(y[1].get<double>(at), y[1].get<double>(at - 1));
        }
        ASSERT_LE(distance(u.times(turned), a.times(v)), p.tolerance(a.norm()) * 4) << k;
        expect_orthonormal_columns(u, p);
        const auto w = probe(least, 9);
        EXPECT_LE(distance(vt.times(vt.transpose_times(w)), w), p.tolerance(1) * 4) << k;
      }
    }
  }
}

TEST_P(Factors, EigenvectorsAreTurnedIntoMultiplesOfThemselves) {
  for (const auto& p : squares()) {
    SCOPED_TRACE(p.text());
    auto x = made(p, Fill::symmetric);
    const auto whole = x;
    spoil_above_diagonal(x, p);
    const auto y = results(ir::Eigh{}, {x});
    ASSERT_EQ(y.size(), 2u);
    for (std::int64_t k = 0; k < p.count; ++k) {
      const Matrix a(whole, k), v(y[1], k);
      const auto w = probe(p.rows, 7);
      auto scaled = w;
      for (std::int64_t i = 0; i < p.rows; ++i) {
        const auto at = static_cast<std::size_t>(k * p.rows + i);
        scaled[static_cast<std::size_t>(i)] *= y[0].get<double>(at);
        if (i > 0) ASSERT_GE(y[0].get<double>(at), y[0].get<double>(at - 1));
      }
      ASSERT_LE(distance(a.times(v.times(w)), v.times(scaled)), p.tolerance(a.norm()) * 4) << k;
      expect_orthonormal_columns(v, p);
    }
  }
}

TEST_P(Factors, SolutionsSolve) {
  for (const auto& p : squares()) {
    for (const std::int64_t sides : {1, 3, 40}) {
      for (const bool transpose : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {} right sides, {}", p.text(), sides, transpose));
        const auto x = made(p, Fill::positive);  // symmetric, so that its transposed view is the same
        const auto b = made({p.dtype, p.count, p.rows, sides}, Fill::random, 11);
        const auto y = run(ir::Solve{}, {x, b}, transpose);
        ASSERT_TRUE(y.ok()) << y.status().to_string();
        for (std::int64_t k = 0; k < p.count; ++k) {
          const Matrix a(x, k), found(y->at(0), k), right(b, k);
          const auto v = probe(sides, 7);
          ASSERT_LE(distance(a.times(found.times(v)), right.times(v)), p.tolerance(right.norm()) * 4) << k;
        }
      }
    }
  }
}

TEST_P(Factors, RowsAreExchangedWhereASystemNeedsIt) {
  for (const auto& p : squares()) {
    SCOPED_TRACE(p.text());
    const auto x = made(p, Fill::random);
    const auto wanted = made({p.dtype, p.count, p.rows, 2}, Fill::random, 11);
    reference::Tensor b(wanted.type);
    for (std::int64_t k = 0; k < p.count; ++k) {
      for (std::int64_t j = 0; j < 2; ++j) {
        Vector unit(2);
        unit[static_cast<std::size_t>(j)] = 1;
        const auto column = Matrix(x, k).times(Matrix(wanted, k).times(unit));
        for (std::size_t i = 0; i < column.size(); ++i)
          b.set((static_cast<std::size_t>(k * p.rows) + i) * 2 + static_cast<std::size_t>(j), column[i]);
      }
    }
    const auto y = results(ir::Solve{}, {x, b});
    ASSERT_EQ(y.size(), 1u);
    for (std::int64_t k = 0; k < p.count; ++k) {  // small residuals, however far the solution of such a system is off
      const Matrix a(x, k), found(y[0], k), right(b, k);
      const Vector v{1, -2};
      ASSERT_LE(distance(a.times(found.times(v)), right.times(v)), p.tolerance(a.norm() * found.norm())) << k;
    }
  }
}

TEST_P(Factors, TriangularSolutionsReadTheirTriangleOnly) {
  for (const auto& p : squares()) {
    for (const bool lower : {true, false}) {
      for (const bool unit : {true, false}) {
        SCOPED_TRACE(fmt::format("{} {} {}", p.text(), lower ? "lower" : "upper", unit ? "unit" : ""));
        reference::Tensor x(p.type());
        std::mt19937 random(3);
        const double scale = 1 / std::sqrt(static_cast<double>(p.rows));
        for (std::int64_t k = 0; k < p.count; ++k) {
          for (std::int64_t i = 0; i < p.rows; ++i) {
            for (std::int64_t j = 0; j < p.rows; ++j) {
              const bool is_read = i == j ? !unit : (j < i) == lower;
              const double value = i == j ? 2.0 : std::normal_distribution<double>(0, scale / 4)(random);
              x.set(static_cast<std::size_t>((k * p.rows + i) * p.rows + j), is_read ? value : std::nan(""));
            }
          }
        }
        const auto b = made({p.dtype, p.count, p.rows, 5}, Fill::random, 11);
        const auto y = results(ir::SolveTriangular{lower, unit}, {x, b});
        ASSERT_EQ(y.size(), 1u);
        for (std::int64_t k = 0; k < p.count; ++k) {
          const Matrix a(x, k), found(y[0], k), right(b, k);
          const auto v = probe(5, 7);
          const auto solution = found.times(v);
          auto product = a.times(solution, [&](auto i, auto j) { return i == j ? !unit : (j < i) == lower; });
          if (unit) {
            for (std::size_t i = 0; i < product.size(); ++i) product[i] += solution[i];
          }
          ASSERT_LE(distance(product, right.times(v)), p.tolerance(right.norm()) * 4) << k;
        }
      }
    }
  }
}

// --- what has no answer ----------------------------------------------------------------------------------------------

TEST_P(Factors, SingularMatricesAreErrorsThatNameThem) {
  for (const std::int64_t n : {4, 64, 130, 300}) {
    for (const std::int64_t count : {1, 3, 20}) {
      if (!is_gpu() && n * count > 2000) continue;
      SCOPED_TRACE(fmt::format("{} of {}", count, n));
      const Problem p{DType::f32, count, n, n};
      auto x = made(p, Fill::positive);
      for (std::int64_t i = 0; i < n; ++i) {  // column 2 of the last one is all 0
        x.set(static_cast<std::size_t>(((count - 1) * n + i) * n + 2), 0.0);
      }
      const auto y = run(ir::Solve{}, {x, made({DType::f32, count, n, 2}, Fill::random)});
      ASSERT_FALSE(y.ok());
      EXPECT_EQ(y.status().code(), StatusCode::invalid_argument);
      EXPECT_THAT(y.status().message(), HasSubstr("is singular: pivot 2 is 0"));
      EXPECT_THAT(y.status().message(), HasSubstr(count == 1 ? "" : fmt::format("matrix {} of", count - 1)));
    }
  }
}

TEST_P(Factors, MatricesThatAreNotPositiveDefiniteAreErrorsThatNameThem) {
  for (const std::int64_t n : {4, 64, 130, 300}) {
    for (const std::int64_t count : {1, 3, 20}) {
      for (const double diagonal : {-1.0, std::nan("")}) {
        SCOPED_TRACE(fmt::format("{} of {}: {}", count, n, diagonal));
        auto x = made({DType::f64, count, n, n}, Fill::positive);
        x.set(static_cast<std::size_t>(((count - 1) * n + 2) * n + 2), diagonal);
        const auto y = run(ir::Cholesky{}, {x});
        ASSERT_FALSE(y.ok());
        EXPECT_EQ(y.status().code(), StatusCode::invalid_argument);
        EXPECT_THAT(y.status().message(), HasSubstr("leading minor of order 3 is not positive"));
        EXPECT_THAT(y.status().message(), HasSubstr(count == 1 ? "" : fmt::format("matrix {} of", count - 1)));
      }
    }
  }
}

TEST_P(Factors, OfNanAreNanAndTheOthersOfTheBatchAreNot) {
  for (const std::int64_t n : {5, 130, 200}) {
    for (const double outside : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      for (const ir::Op& op : {ir::Op(ir::Svd{}), ir::Op(ir::Eigh{})}) {
        SCOPED_TRACE(fmt::format("{} of {}: {}", ir::name(op), n, outside));
        auto x = made({DType::f32, 2, n, n}, Fill::symmetric);
        x.set(static_cast<std::size_t>(n * n + n), outside);  // matrix 1, row 1, column 0
        const auto y = results(op, {x});
        ASSERT_FALSE(y.empty());
        for (const auto& result : y) {
          const auto half = result.size() / 2;
          for (std::size_t i = 0; i < half; ++i) {
            ASSERT_TRUE(std::isfinite(result.get<double>(i)));
            ASSERT_TRUE(std::isnan(result.get<double>(half + i)));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace burn::testing
