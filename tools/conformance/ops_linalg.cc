#include "client/tensor/linalg.h"
#include "tools/conformance/ranks.h"

namespace burn::conformance {
namespace {

constexpr int kLargest = 6;

template <int D, typename K = Float>
Tensor<D, K> tensor(const Call& c, std::size_t i = 0) {
  return Tensor<D, K>{c.x(i)};
}

int dim(const Call& c) { return static_cast<int>(c.integer("dim")); }

// Makes an entry that calls f on an operand of any rank; F is a lambda over the rank.
template <int kMinRank, typename F>
OpFunction of_rank(F f) {
  return [f](const Call& c) {
    return with_rank<kMinRank, kLargest>(c.x(), [&]<int D>() { return results(f.template operator()<D>(c)); });
  };
}

// The same for floats and integers: a lambda over rank and kind.
template <int kMinRank, typename F>
OpFunction of_numbers(F f) {
  return [f](const Call& c) {
    return with_rank<kMinRank, kLargest>(c.x(), [&]<int D>() {
      if (ir::is_integer(c.x().dtype())) return results(f.template operator()<D, Int>(c));
      return results(f.template operator()<D, Float>(c));
    });
  };
}

}  // namespace

void add_linalg(OpTable& t) {
  t["vector_norm"] =
      of_rank<1>([]<int D>(const Call& c) { return linalg::vector_norm(tensor<D>(c), c.number("p"), dim(c)); });
  t["lp_norm"] = of_rank<1>([]<int D>(const Call& c) { return linalg::lp_norm(tensor<D>(c), c.number("p"), dim(c)); });
  t["l0_norm"] = of_rank<1>([]<int D>(const Call& c) { return linalg::l0_norm(tensor<D>(c), dim(c)); });
  t["l1_norm"] = of_rank<1>([]<int D>(const Call& c) { return linalg::l1_norm(tensor<D>(c), dim(c)); });
  t["l2_norm"] = of_rank<1>([]<int D>(const Call& c) { return linalg::l2_norm(tensor<D>(c), dim(c)); });
  t["max_abs_norm"] = of_rank<1>([]<int D>(const Call& c) { return linalg::max_abs_norm(tensor<D>(c), dim(c)); });
  t["min_abs_norm"] = of_rank<1>([]<int D>(const Call& c) { return linalg::min_abs_norm(tensor<D>(c), dim(c)); });
  t["vector_normalize"] = of_rank<1>([]<int D>(const Call& c) {
    return linalg::vector_normalize(tensor<D>(c), c.number("p"), dim(c), c.number("eps"));
  });
  t["cosine_similarity"] = of_rank<1>([]<int D>(const Call& c) {
    return linalg::cosine_similarity(tensor<D>(c), tensor<D>(c, 1), dim(c), c.number("eps"));
  });
  t["outer"] = of_numbers<1>(
      []<int D, typename K>(const Call& c) { return linalg::outer(tensor<D, K>(c), tensor<D, K>(c, 1)); });
  t["outer_dim"] = of_numbers<1>(
      []<int D, typename K>(const Call& c) { return linalg::outer_dim(tensor<D, K>(c), tensor<D, K>(c, 1), dim(c)); });
  t["diag"] = [](const Call& c) {
    if (!ir::is_bool(c.x().dtype()))
      return of_numbers<2>([]<int D, typename K>(const Call& c) { return linalg::diag(tensor<D, K>(c)); })(c);
    return of_rank<2>([]<int D>(const Call& c) { return linalg::diag(tensor<D, Bool>(c)); })(c);
  };
  t["trace"] = of_numbers<2>([]<int D, typename K>(const Call& c) { return linalg::trace(tensor<D, K>(c)); });
  t["matvec"] = of_numbers<2>(
      []<int D, typename K>(const Call& c) { return linalg::matvec(tensor<D, K>(c), tensor<D - 1, K>(c, 1)); });

  t["det"] = of_rank<2>([]<int D>(const Call& c) { return linalg::det(tensor<D>(c)); });
  t["lu"] = of_rank<2>([]<int D>(const Call& c) { return linalg::lu(tensor<D>(c)); });
  t["qr"] = of_rank<2>([]<int D>(const Call& c) { return linalg::qr(tensor<D>(c), c.flag("reduced")); });
  t["cholesky"] = of_rank<2>([]<int D>(const Call& c) { return linalg::cholesky(tensor<D>(c)); });
  t["svd"] = of_rank<2>([]<int D>(const Call& c) { return linalg::svdvals(tensor<D>(c)); });
  t["inverse"] = of_rank<2>([]<int D>(const Call& c) { return linalg::inverse(tensor<D>(c)); });
  t["solve"] = of_rank<2>([]<int D>(const Call& c) { return linalg::solve(tensor<D>(c), tensor<D>(c, 1)); });
}

}  // namespace burn::conformance
