// Methods of Tensor<D, K> along axes: reductions, sorting, running sums, sampling. A base class of it: include
// client/tensor/tensor.h. Unless stated otherwise, the axes keep size 1.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/ops/statistics.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

template <int D, Kind K>
class AxisMethods {
  using Tensor = burn::Tensor<D, K>;
  using Indices = burn::Tensor<D, Int>;
  using Red = ir::ReduceFn;
  using Axes = std::vector<std::int64_t>;
  using Truth = burn::Tensor<1 + 0 * D, Bool>;                       // 0 * D: a dependent type, instantiated when used
  using Summed = std::conditional_t<std::same_as<K, Bool>, Int, K>;  // the kind of sums and products
  using Sums = burn::Tensor<D, Summed>;

 public:
  // --- reductions ----------------------------------------------------------------------------------------------------
  // Sums and products are computed and returned in i64 for bools and for integers narrower than 64 bits, else in the
  // dtype of the elements; or in `dtype`, one of the result's kind, to which the elements are converted first. Integers
  // wrap.
#define BURN_SUM(name, fn)                                                                                     \
  burn::Tensor<1, Summed> name(Loc where = Loc::current()) const {                                             \
    return burn::Tensor<1, Summed>{client::reduce_all(fn, value(), at(where, #name))};                         \
  }                                                                                                            \
  burn::Tensor<1, Summed> name(DType dtype, Loc where = Loc::current()) const {                                \
    return burn::Tensor<1, Summed>{client::reduce_all_in(dtype, fn, value(), at(where, #name)), #name, where}; \
  }                                                                                                            \
  Sums name##_dim(int dim, Loc where = Loc::current()) const {                                                 \
    return Sums{client::reduce(fn, value(), {dim}, at(where, #name "_dim"))};                                  \
  }                                                                                                            \
  Sums name##_dim(int dim, DType dtype, Loc where = Loc::current()) const {                                    \
    return Sums{client::reduce_in(dtype, fn, value(), {dim}, at(where, #name "_dim")), #name "_dim", where};   \
  }                                                                                                            \
  Sums name##_dims(const Axes& dims, Loc where = Loc::current()) const {                                       \
    const auto site = at(where, #name "_dims");                                                                \
    return Sums{client::reduce(fn, value(), client::dims_of(dims, #name "_dims", site), site)};                \
  }                                                                                                            \
  Sums name##_dims(const Axes& dims, DType dtype, Loc where = Loc::current()) const {                          \
    const auto site = at(where, #name "_dims");                                                                \
    const auto axes = client::dims_of(dims, #name "_dims", site);                                              \
    return Sums{client::reduce_in(dtype, fn, value(), axes, site), #name "_dims", where};                      \
  }
  BURN_SUM(sum, Red::sum)
  BURN_SUM(prod, Red::prod)
#undef BURN_SUM
  // The sum over the dims, which are removed.
  template <int E>
  burn::Tensor<E, Summed> sum_dims_squeeze(const Axes& dims, Loc where = Loc::current()) const {
    const auto site = at(where, "sum_dims_squeeze");
    const auto axes = client::dims_of(dims, "sum_dims_squeeze", site);
    return burn::Tensor<E, Summed>{client::squeeze(client::reduce(Red::sum, value(), axes, site), axes, site),
                                   "sum_dims_squeeze", where};
  }
  // The largest and the smallest element; NaN if there is any. Over several dims, the gradient is shared evenly by
  // equal elements (by all NaN, if the result is NaN); along one dim it goes to the first of them, as in
  // max_dim_with_indices().
#define BURN_EXTREME(name, fn)                                                                                \
  burn::Tensor<1, K> name(Loc where = Loc::current()) const                                                   \
    requires Numeric<K>                                                                                       \
  {                                                                                                           \
    return burn::Tensor<1, K>{client::reduce_all(fn, value(), at(where, #name))};                             \
  }                                                                                                           \
  Tensor name##_dim(int dim, Loc where = Loc::current()) const                                                \
    requires Numeric<K>                                                                                       \
  {                                                                                                           \
    return Tensor{client::extreme(fn, value(), dim, at(where, #name "_dim"))};                                \
  }                                                                                                           \
  Tensor name##_dims(const Axes& dims, Loc where = Loc::current()) const                                      \
    requires Numeric<K>                                                                                       \
  {                                                                                                           \
    return Tensor{client::reduce(fn, value(), client::dims_of(dims, #name "_dims", at(where, #name "_dims")), \
                                 at(where, #name "_dims"))};                                                  \
  }
  BURN_EXTREME(max, Red::max)
  BURN_EXTREME(min, Red::min)
#undef BURN_EXTREME
  burn::Tensor<1, K> mean(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return burn::Tensor<1, K>{client::mean_all(value(), at(where, "mean"))};
  }
  Tensor mean_dim(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::mean(value(), {dim}, at(where, "mean_dim"))};
  }
  Tensor mean_dims(const Axes& dims, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{
        client::mean(value(), client::dims_of(dims, "mean_dims", at(where, "mean_dims")), at(where, "mean_dims"))};
  }
  // The largest |x|.
  burn::Tensor<1, K> max_abs(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return burn::Tensor<1, K>{client::max_abs_all(value(), at(where, "max_abs"))};
  }
  Tensor max_abs_dim(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::max_abs(value(), {dim}, at(where, "max_abs_dim"))};
  }
  Tensor max_abs_dims(const Axes& dims, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::max_abs(value(), client::dims_of(dims, "max_abs_dims", at(where, "max_abs_dims")),
                                  at(where, "max_abs_dims"))};
  }
  // Whether any element, or every element, is not 0.
  Truth any(Loc where = Loc::current()) const {
    return Truth{client::reduce_all(Red::max, as_bool(at(where, "any")), at(where, "any"))};
  }
  Truth all(Loc where = Loc::current()) const {
    return Truth{client::reduce_all(Red::min, as_bool(at(where, "all")), at(where, "all"))};
  }
  burn::Tensor<D, Bool> any_dim(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Bool>{client::reduce(Red::max, as_bool(at(where, "any_dim")), {dim}, at(where, "any_dim"))};
  }
  burn::Tensor<D, Bool> all_dim(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Bool>{client::reduce(Red::min, as_bool(at(where, "all_dim")), {dim}, at(where, "all_dim"))};
  }

  // --- statistics ----------------------------------------------------------------------------------------------------
  // The variance: divided by n - 1, or (bias) by n.
  Tensor var(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::var(value(), {dim}, 1, at(where, "var"))};
  }
  Tensor var_bias(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::var(value(), {dim}, 0, at(where, "var_bias"))};
  }
  std::pair<Tensor, Tensor> var_mean(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return moments(dim, 1, at(where, "var_mean"));
  }
  std::pair<Tensor, Tensor> var_mean_bias(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return moments(dim, 0, at(where, "var_mean_bias"));
  }
  // For an even count the lower of the two middle elements; NaN if there is any.
  Tensor median(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::median(value(), dim, at(where, "median")).values};
  }
  std::pair<Tensor, Indices> median_with_indices(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return with_indices(client::median(value(), dim, at(where, "median_with_indices")));
  }
  // Covariance, with observations along `dim` and variables along the other dim: [variables, variables].
  Tensor cov(int dim, std::int64_t correction = 1, Loc where = Loc::current()) const
    requires(D >= 2 && std::same_as<K, Float>)
  {
    return Tensor{client::cov(value(), dim, correction, at(where, "cov"))};
  }
  // log(sum(exp(x))); logcumsumexp() sums the elements up to each one.
  Tensor logsumexp(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::logsumexp(value(), dim, at(where, "logsumexp"))};
  }
  Tensor logcumsumexp(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::logcumsumexp(value(), dim, at(where, "logcumsumexp"))};
  }
  // Classes drawn from weights along the last dim (which need not sum to 1), with replacement: [..., samples].
  Indices categorical(std::int64_t samples, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Indices{client::categorical(value(), samples, at(where, "categorical"))};
  }
  // The same with or without replacement. Without it, each class is drawn at most once, classes of weight 0 last.
  Indices multinomial(std::int64_t samples, bool replacement = false, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    const auto site = at(where, "multinomial");
    return Indices{replacement ? client::categorical(value(), samples, site)
                               : client::sample_without_replacement(value(), samples, site)};
  }

  // --- sorting: of equal elements the first, NaN as the largest ------------------------------------------------------
  Indices argmax(int dim, Loc where = Loc::current()) const {
    return Indices{client::arg_reduce(ir::ArgFn::max, value(), dim, at(where, "argmax"))};
  }
  Indices argmin(int dim, Loc where = Loc::current()) const {
    return Indices{client::arg_reduce(ir::ArgFn::min, value(), dim, at(where, "argmin"))};
  }
  std::pair<Tensor, Indices> max_dim_with_indices(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return with_indices(client::extreme_with_indices(ir::ArgFn::max, value(), dim, at(where, "max_dim_with_indices")));
  }
  std::pair<Tensor, Indices> min_dim_with_indices(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return with_indices(client::extreme_with_indices(ir::ArgFn::min, value(), dim, at(where, "min_dim_with_indices")));
  }
  Tensor sort(int dim, Loc where = Loc::current()) const {
    return Tensor{client::sort(value(), dim, false, at(where, "sort")).values};
  }
  Tensor sort_descending(int dim, Loc where = Loc::current()) const {
    return Tensor{client::sort(value(), dim, true, at(where, "sort_descending")).values};
  }
  // The sorted elements, and the index that each had.
  std::pair<Tensor, Indices> sort_with_indices(int dim, Loc where = Loc::current()) const {
    return with_indices(client::sort(value(), dim, false, at(where, "sort_with_indices")));
  }
  std::pair<Tensor, Indices> sort_descending_with_indices(int dim, Loc where = Loc::current()) const {
    return with_indices(client::sort(value(), dim, true, at(where, "sort_descending_with_indices")));
  }
  Indices argsort(int dim, Loc where = Loc::current()) const {
    return Indices{client::sort(value(), dim, false, at(where, "argsort")).indices};
  }
  Indices argsort_descending(int dim, Loc where = Loc::current()) const {
    return Indices{client::sort(value(), dim, true, at(where, "argsort_descending")).indices};
  }
  // The k largest, in descending order.
  Tensor topk(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return Tensor{client::top_k(value(), dim, k, true, at(where, "topk")).values};
  }
  std::pair<Tensor, Indices> topk_with_indices(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return with_indices(client::top_k(value(), dim, k, true, at(where, "topk_with_indices")));
  }
  Indices argtopk(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return Indices{client::top_k(value(), dim, k, true, at(where, "argtopk")).indices};
  }

  // --- running combinations: y[i] of x[0] to x[i] --------------------------------------------------------------------
  // cumsum and cumprod are computed in the dtypes of sum() and prod().
#define BURN_RUNNING_SUM(name, fn)                                                         \
  Sums name(int dim, Loc where = Loc::current()) const {                                   \
    return Sums{client::scan(fn, value(), dim, at(where, #name))};                         \
  }                                                                                        \
  Sums name(int dim, DType dtype, Loc where = Loc::current()) const {                      \
    return Sums{client::scan_in(dtype, fn, value(), dim, at(where, #name)), #name, where}; \
  }
  BURN_RUNNING_SUM(cumsum, Red::sum)
  BURN_RUNNING_SUM(cumprod, Red::prod)
#undef BURN_RUNNING_SUM
#define BURN_SCAN(name, fn)                                          \
  Tensor name(int dim, Loc where = Loc::current()) const             \
    requires Numeric<K>                                              \
  {                                                                  \
    return Tensor{client::scan(fn, value(), dim, at(where, #name))}; \
  }
  BURN_SCAN(cummax, Red::max)
  BURN_SCAN(cummin, Red::min)
#undef BURN_SCAN

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
  client::Value as_bool(const client::Site& site) const { return client::cast(value(), DType::bool_, site); }
  // The variance and the mean.
  std::pair<Tensor, Tensor> moments(int dim, std::int64_t correction, const client::Site& site) const {
    return {Tensor{client::var(value(), {dim}, correction, site)}, Tensor{client::mean(value(), {dim}, site)}};
  }
  static std::pair<Tensor, Indices> with_indices(client::Indexed found) {
    return {Tensor{std::move(found.values)}, Indices{std::move(found.indices)}};
  }
};

}  // namespace detail
}  // namespace burn
