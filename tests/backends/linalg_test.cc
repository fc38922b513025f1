// Systems of equations, and matrices that have no factors or no solution.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/backends/factors.h"

namespace burn::testing {
namespace {

using ::testing::HasSubstr;

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
  auto problems = squares();
  for (const auto dtype : {DType::f32, DType::f64}) {  // solved by halves
    problems.push_back({dtype, 1, 700, 700});
    problems.push_back({dtype, 3, 300, 300});
  }
  for (const auto& p : problems) {
    const std::int64_t columns = p.rows >= 300 ? 600 : 5;
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
        const auto b = made({p.dtype, p.count, p.rows, columns}, Fill::random, 11);
        const auto y = results(ir::SolveTriangular{lower, unit}, {x, b});
        ASSERT_EQ(y.size(), 1u);
        for (std::int64_t k = 0; k < p.count; ++k) {
          const Matrix a(x, k), found(y[0], k), right(b, k);
          const auto v = probe(columns, 7);
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
