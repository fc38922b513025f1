// Gradients of factorisations and of systems of equations. Sources: M. B. Giles, "Collected matrix derivative results
// for forward and reverse mode algorithmic differentiation" (2008); I. Murray, arXiv:1602.07527 (Cholesky); M. Seeger
// et al., arXiv:1710.08717 (QR, eigenvalues); S. F. Walter, L. Lehmann, R. Lamour, "On evaluating higher-order
// derivatives of the QR decomposition of tall matrices" (2012).
#include <algorithm>
#include <array>

#include "autodiff/rule_list.h"
#include "base/error.h"

namespace burn::autodiff {
namespace {

using client::place_of;

Value t(const Value& x) { return client::swap_dims(x, -2, -1, current_site()); }
Value mm(const Value& a, const Value& b) { return client::matmul(a, b, current_site()); }

// bool [1, ..., rows, columns] for matrices like x: compare(column - row, offset).
Value where_offset(Fn compare, const Value& x, std::int64_t offset) {
  const auto numbers = [&](int dim, std::int64_t from) {
    ir::Shape line = ir::Shape::filled(x.rank(), 1);
    line[x.rank() + dim] = x.dim(dim);
    return client::reshape(client::arange(place_of(x), from, from + x.dim(dim), 1, ir::DType::i64, current_site()),
                           line, current_site());
  };
  return client::pointwise(compare, numbers(-1, 0), numbers(-2, offset), current_site());
}

// The elements on and below a diagonal, on and above it, on it; zeros elsewhere.
Value lower(const Value& x, std::int64_t diagonal = 0) {
  return select(where_offset(Fn::lower_equal, x, diagonal), x, 0.0);
}
Value upper(const Value& x, std::int64_t diagonal = 0) {
  return select(where_offset(Fn::greater_equal, x, diagonal), x, 0.0);
}
// diag(v) as matrices, v [..., n].
Value diagonal(const Value& v) {
  ir::Shape shape = v.shape();
  const auto n = shape.back();
  shape.push_back(n);
  const Value wide =
      client::expand(client::unsqueeze(v, ir::Dims{v.rank() - 1}, current_site()), shape, current_site());
  return select(where_offset(Fn::equal, wide, 0), wide, 0.0);
}
Value diagonal_of(const Value& x) {  // [..., n, n] -> [..., n]
  const Value kept = select(where_offset(Fn::equal, x, 0), x, 0.0);
  return client::squeeze(client::reduce(ir::ReduceFn::sum, kept, ir::Dims{x.rank() - 1}, current_site()),
                         ir::Dims{x.rank() - 1}, current_site());
}
Value identity_like(const Value& x) { return client::cast(where_offset(Fn::equal, x, 0), x.dtype(), current_site()); }
Value unit_lower(const Value& x) { return lower(x, -1) + identity_like(x); }

enum Triangle { kLower, kUpper };

// a^-1 b, and b a^-1, for a triangular a.
Value divide_left(const Value& a, Triangle triangle, bool unit, const Value& b) {
  return client::apply(ir::SolveTriangular{triangle == kLower, unit}, a, b, current_site());
}
Value divide_right(const Value& b, const Value& a, Triangle triangle, bool unit) {
  return t(divide_left(t(a), triangle == kLower ? kUpper : kLower, unit, t(b)));
}

Value rows(const Value& x, std::int64_t start, std::int64_t count) {
  return client::narrow(x, -2, start, count, current_site());
}
Value columns(const Value& x, std::int64_t start, std::int64_t count) {
  return client::narrow(x, -1, start, count, current_site());
}
Value join(const Value& a, const Value& b, std::int64_t axis) {
  const auto parts = std::array{a, b};
  return client::concat(parts, axis, current_site());
}

// y with y[permutation[i]] = x[i], row by row.
Value permuted_back(const Value& x, const Value& permutation) {
  const Value index = client::expand(client::unsqueeze(permutation.inner(), ir::Dims{x.rank() - 1}, current_site()),
                                     x.shape(), current_site());
  return client::scatter(client::filled(place_of(x), x.shape(), 0, x.dtype(), current_site()), x.rank() - 2,
                         Value{index.storage(), x.is_autodiff()}, x, ir::ScatterFn::add, current_site());
}

// v with zeros replaced by `relative` times its largest |element|. For the pivots of a singular matrix: results then
// belong to a nonsingular matrix next to it, and a function that has a limit there, such as the gradient of the
// determinant, takes that limit.
Value never_zero(const Value& v, double relative) {
  const Value x = v.detach();
  const Value largest = client::reduce(ir::ReduceFn::max, abs(x), ir::Dims{v.rank() - 1}, current_site());
  const Value least = client::expand(or_one(largest) * relative, v.shape(), current_site());
  return v + select(x == 0.0, least, 0.0);
}

// The triangular matrix u with never_zero() applied to its diagonal.
Value regular(const Value& u, double relative) {
  const Value pivots = diagonal_of(u);
  return u + diagonal(never_zero(pivots, relative) - pivots);
}

// The gradient of x = Q R for a square R: (gQ + Q copyltu(M)) R^-T, M = R gR^T - gQ^T Q, where copyltu mirrors the
// lower triangle.
Value qr_gradient(const Value& q, const Value& r, const Value& gq, const Value& gr) {
  const Value m = mm(r, t(gr)) - mm(t(gq), q);
  return divide_right(gq + mm(q, lower(m) + t(lower(m, -1))), t(r), kLower, false);
}

// 1 / (b[j] - a[i]) off the diagonal, 0 on it and where the two are equal.
Value inverse_differences(const Value& values) {
  const Value row = client::unsqueeze(values, ir::Dims{values.rank() - 1}, current_site()),
              column = client::unsqueeze(values, ir::Dims{values.rank()}, current_site());
  const Value d = row - column;
  return select(d == 0.0, 0.0, 1.0 / or_one(d));
}

}  // namespace

namespace grad_rules {

// L^-T phi(L^T gL) L^-1, symmetric; phi: the lower triangle with half of the diagonal.
OperandGradients rule(const ir::Cholesky&, const TapedOp& s) {
  return one(s, [&] {
    const Value& l = s.y;
    const Value m = mm(t(l), s.g);
    const Value phi = (lower(m) + lower(m, -1)) * 0.5;
    const Value x = divide_left(t(l), kUpper, false, divide_right(phi, l, kLower, false));
    return (x + t(x)) * 0.5;
  });
}

OperandGradients rule(const ir::Lu&, const TapedOp& s) {
  return one(s, [&]() -> Value {
    if (s.x[0].type().num_elements() == 0 || !s.gs[0].has_value()) return zeros_like(s.x[0], s);
    constexpr double kNextToNothing = 1e-12;
    const Value &y = s.ys[0], &g = s.gs[0];
    const auto n = y.dim(-2), m = y.dim(-1), k = std::min(n, m);
    const Value square = columns(rows(y, 0, k), 0, k), g_square = columns(rows(g, 0, k), 0, k);
    const Value l = unit_lower(square), u = regular(upper(square), kNextToNothing);
    Value to_l = mm(t(l), lower(g_square, -1)), to_u = mm(upper(g_square), t(u));
    Value rest;
    if (m > k) {  // u2 = l^-1 p x2
      const Value g2 = columns(g, k, m - k);
      to_l = to_l - mm(g2, t(columns(y, k, m - k)));
      rest = divide_left(t(l), kUpper, true, g2);
    } else if (n > k) {  // l2 = p x2 u^-1
      const Value g2 = rows(g, k, n - k);
      to_u = to_u - mm(t(rows(y, k, n - k)), g2);
      rest = divide_right(g2, t(u), kLower, false);
    }
    const Value middle = lower(to_l, -1) + upper(to_u);
    Value x = divide_right(divide_left(t(l), kUpper, true, middle), t(u), kLower, false);
    if (rest.has_value()) x = join(x, rest, m > k ? -1 : -2);
    return permuted_back(x, s.ys[1]);
  });
}

OperandGradients rule(const ir::Qr& op, const TapedOp& s) {
  return one(s, [&]() -> Value {
    const Value &x = s.x[0], &q = s.ys[0], &r = s.ys[1];
    const auto n = x.dim(-2), m = x.dim(-1);
    if (!op.reduced && n > m) {
      throw Error(StatusCode::unimplemented, "qr: the full Q of " + ir::to_string(x.type()) +
                                                 " has no gradient, as its last columns may be any; take the reduced "
                                                 "one (at " +
                                                 ir::to_string(s.site) + ")");
    }
    if (x.type().num_elements() == 0) return zeros_like(x, s);
    Value gq = arrived(0, s);
    const Value gr = arrived(1, s);
    if (n >= m) return qr_gradient(q, r, gq, gr);
    // Q and the square part of R depend on the first columns of x; the other columns of R are Q^T times those of x.
    const Value g2 = columns(gr, n, m - n);
    gq = gq + mm(columns(x, n, m - n), t(g2));
    return join(qr_gradient(q, columns(r, 0, n), gq, columns(gr, 0, n)), mm(q, g2), -1);
  });
}

// Terms that are undetermined because of equal singular values, or one that is 0, are taken as 0.
OperandGradients rule(const ir::Svd&, const TapedOp& s) {
  return one(s, [&]() -> Value {
    const Value &x = s.x[0], &u = s.ys[0], &values = s.ys[1], &vt = s.ys[2];
    if (x.type().num_elements() == 0) return zeros_like(x, s);
    Value middle;
    const auto add = [&](const Value& term) { middle = middle.has_value() ? middle + term : term; };
    if (s.gs[1].has_value()) add(diagonal(s.gs[1]));
    if (!s.gs[0].has_value() && !s.gs[2].has_value()) return mm(mm(u, middle), vt);
    // 1 / (s[j]^2 - s[i]^2)
    const Value row = client::unsqueeze(values, ir::Dims{values.rank() - 1}, s.site),
                column = client::unsqueeze(values, ir::Dims{values.rank()}, s.site);
    const Value d = (row - column) * (row + column);
    const Value f = select(d == 0.0, 0.0, 1.0 / or_one(d));
    const Value inverse = select(row == 0.0, 0.0, 1.0 / or_one(row));  // of the columns' singular values
    Value rest;
    if (s.gs[0].has_value()) {
      const Value m = mm(t(u), s.gs[0]);
      add((m - t(m)) * f * row);
      if (x.dim(-2) > values.dim(-1)) rest = mm((s.gs[0] - mm(u, m)) * inverse, vt);
    }
    if (s.gs[2].has_value()) {
      const Value m = mm(vt, t(s.gs[2]));
      add((m - t(m)) * f * column);
      if (x.dim(-1) > values.dim(-1)) {
        const Value outside = mm(u, (s.gs[2] - mm(t(m), vt)) * t(inverse));
        rest = rest.has_value() ? rest + outside : outside;
      }
    }
    const Value inside = mm(mm(u, middle), vt);
    return rest.has_value() ? inside + rest : inside;
  });
}

// V (diag(g) + F (V^T gV)) V^T, symmetric, F[i, j] = 1 / (values[j] - values[i]).
OperandGradients rule(const ir::Eigh&, const TapedOp& s) {
  return one(s, [&]() -> Value {
    const Value &values = s.ys[0], &v = s.ys[1];
    if (v.type().num_elements() == 0) return zeros_like(s.x[0], s);
    Value middle;
    if (s.gs[0].has_value()) middle = diagonal(s.gs[0]);
    if (s.gs[1].has_value()) {
      const Value turned = mm(t(v), s.gs[1]) * inverse_differences(values);
      middle = middle.has_value() ? middle + turned : turned;
    }
    const Value x = mm(mm(v, middle), t(v));
    return (x + t(x)) * 0.5;
  });
}

OperandGradients rule(const ir::Solve& op, const TapedOp& s) {
  Value to_b = client::apply(op, t(s.x[0]), s.g, s.site);
  return two(
      s, [&] { return -mm(to_b, t(s.y)); }, [&] { return to_b; });
}

OperandGradients rule(const ir::SolveTriangular& op, const TapedOp& s) {
  Value to_b = client::apply(ir::SolveTriangular{!op.lower, op.unit}, t(s.x[0]), s.g, s.site);
  return two(
      s,
      [&] {
        const Value whole = -mm(to_b, t(s.y));
        const std::int64_t unread = op.unit ? 1 : 0;
        return op.lower ? lower(whole, -unread) : upper(whole, unread);
      },
      [&] { return to_b; });
}

// g det(x) x^-T (the cofactors), in double, from the LU factors with pivots that are never 0, so that it is also valid
// for a singular matrix.
OperandGradients rule(const ir::Det&, const TapedOp& s) {
  return one(s, [&]() -> Value {
    const Value& x = s.x[0];
    if (x.type().num_elements() == 0) return zeros_like(x, s);
    constexpr auto kWide = ir::DType::f64;
    constexpr double kNextToNothing = 1e-12;
    const auto factors = client::apply_all(ir::Lu{}, x, s.site);
    const Value packed = client::cast(factors[0], kWide, s.site);
    const Value u = regular(upper(packed), kNextToNothing);
    const int last = x.rank() - 1;
    const Value pivots = client::reduce(ir::ReduceFn::prod, diagonal_of(u), ir::Dims{last - 1}, s.site);  // [..., 1]
    const Value signed_g = client::cast(s.g * factors[2], kWide, s.site);
    const Value scale =
        client::unsqueeze(client::unsqueeze(signed_g, ir::Dims{last - 1}, s.site) * pivots, ir::Dims{last}, s.site);
    const Value inverse = divide_left(
        t(packed), kUpper, true, divide_left(t(u), kLower, false, client::expand(identity_like(u), u.shape(), s.site)));
    return client::cast(permuted_back(inverse * scale, factors[1]), x.dtype(), s.site);
  });
}

}  // namespace grad_rules
}  // namespace burn::autodiff
