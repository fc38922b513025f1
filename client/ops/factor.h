// Matrix factorisations and solvers of linear equations, over the last two dims, for batches. 16-bit floats are
// computed in f32.
#pragma once

#include "client/ops/ops.h"

namespace burn::client {

Value cholesky(const Value& x, const Site& site);

struct LuParts {
  Value p, l, u;  // [..., n, n], [..., n, k], [..., k, m]
};
LuParts lu(const Value& x, const Site& site);
struct PackedLu {
  Value lu, permutation;  // [..., n, m], i64 [..., n]
};
PackedLu lu_decomposition(const Value& x, const Site& site);

struct QrParts {
  Value q, r;
};
QrParts qr(const Value& x, bool reduced, const Site& site);

struct SvdParts {
  Value u, s, vt;
};
SvdParts svd(const Value& x, const Site& site);

struct EighParts {
  Value values, vectors;
};
EighParts eigh(const Value& x, const Site& site);

Value solve(const Value& a, const Value& b, const Site& site);  // batch dims broadcast
Value solve_triangular(const Value& a, const Value& b, bool lower, bool unit, const Site& site);
Value inverse(const Value& x, const Site& site);
Value det(const Value& x, const Site& site);  // [..., n, n] -> [...]

}  // namespace burn::client
