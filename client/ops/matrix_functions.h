// Matrix functions, as composites of factorisations, solvers and products, over the last two dims, for batches. Values
// and gradients are those of torch.linalg; 16-bit floats are computed in f32.
#pragma once

#include <optional>

#include "client/ops/ops.h"

namespace burn::client {

struct SlogdetParts {
  Value sign, logabsdet;  // [...] each
};
SlogdetParts slogdet(const Value& x, const Site& site);

// Singular values up to max(atol, rtol * the largest) count as 0.
struct RankTolerance {
  std::optional<double> rtol;  // none: max(n, m) times the dtype's epsilon, or 0 where atol is given
  double atol = 0;
};
Value pinv(const Value& x, const RankTolerance& tolerance, const Site& site);  // [..., n, m] -> [..., m, n]

enum class LstsqDriver { gels, gelsd };
struct LstsqParts {
  Value solution, residuals;  // [..., m, k], [..., k]
};
LstsqParts lstsq(const Value& a, const Value& b, LstsqDriver driver, const RankTolerance& tolerance, const Site& site);

Value matrix_power(const Value& x, std::int64_t n, const Site& site);
Value matrix_exp(const Value& x, const Site& site);

}  // namespace burn::client
