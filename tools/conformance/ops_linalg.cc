#include <limits>

#include "client/ops/norms.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

OpFunction norm(double p) {
  return [p](const Call& c) { return std::vector{client::vector_norm(c.x(), p, c.integer("dim"), kSite)}; };
}

}  // namespace

void add_linalg(OpTable& t) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  t["vector_norm"] = t["lp_norm"] = [](const Call& c) {
    return std::vector{client::vector_norm(c.x(), c.number("p"), c.integer("dim"), kSite)};
  };
  t["l0_norm"] = norm(0);
  t["l1_norm"] = norm(1);
  t["l2_norm"] = norm(2);
  t["max_abs_norm"] = norm(kInfinity);
  t["min_abs_norm"] = norm(-kInfinity);
  t["vector_normalize"] = [](const Call& c) {
    return std::vector{client::vector_normalize(c.x(), c.number("p"), c.integer("dim"), c.number("eps"), kSite)};
  };
  t["cosine_similarity"] = [](const Call& c) {
    return std::vector{client::cosine_similarity(c.x(0), c.x(1), c.integer("dim"), c.number("eps"), kSite)};
  };
  t["diag"] = [](const Call& c) { return std::vector{client::diag(c.x(), kSite)}; };
  t["trace"] = [](const Call& c) { return std::vector{client::trace(c.x(), kSite)}; };
  t["outer"] = [](const Call& c) { return std::vector{client::outer(c.x(0), c.x(1), -1, kSite)}; };
  t["outer_dim"] = [](const Call& c) { return std::vector{client::outer(c.x(0), c.x(1), c.integer("dim"), kSite)}; };
  t["matvec"] = [](const Call& c) { return std::vector{client::matvec(c.x(0), c.x(1), kSite)}; };
}

}  // namespace burn::conformance
