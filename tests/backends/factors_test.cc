// Factorisations multiply to the matrix, and their factors are of the kind that they are said to be.
#include "tests/backends/factors.h"

namespace burn::testing {
namespace {

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
          if (i < r.columns()) {
            ASSERT_GE(r.at(i, i), 0);
          }
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
          if (i > 0) {
            ASSERT_LE(y[1].get<double>(at), y[1].get<double>(at - 1));
          }
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
        if (i > 0) {
          ASSERT_GE(y[0].get<double>(at), y[0].get<double>(at - 1));
        }
      }
      ASSERT_LE(distance(a.times(v.times(w)), v.times(scaled)), p.tolerance(a.norm()) * 4) << k;
      expect_orthonormal_columns(v, p);
    }
  }
}

}  // namespace
}  // namespace burn::testing
