// What Tensor<D, K> does along its axes: reductions, orders, running sums. A base of it: include
// client/tensor/tensor.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

template <int D, Kind K>
class AxisMethods {
  using Tensor = burn::Tensor<D, K>;
  using Red = ir::ReduceFn;

 public:
#define BURN_REDUCE(name, fn)                                              \
  burn::Tensor<1, K> name(Loc where = Loc::current()) const                \
    requires Numeric<K>                                                    \
  {                                                                        \
    return burn::Tensor<1, K>{client::reduce_all(fn, value(), at(where))}; \
  }                                                                        \
  Tensor name##_dim(int dim, Loc where = Loc::current()) const             \
    requires Numeric<K>                                                    \
  {                                                                        \
    return Tensor{client::reduce(fn, value(), {dim}, at(where))};          \
  }
  BURN_REDUCE(sum, Red::sum)
  BURN_REDUCE(prod, Red::prod)
  BURN_REDUCE(max, Red::max)
  BURN_REDUCE(min, Red::min)
#undef BURN_REDUCE
  burn::Tensor<1, K> mean(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return burn::Tensor<1, K>{client::mean_all(value(), at(where))};
  }
  Tensor mean_dim(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::mean(value(), {dim}, at(where))};
  }
  Tensor var(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::var(value(), {dim}, 1, at(where))};
  }
  burn::Tensor<D, Int> argmax(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::arg_reduce(ir::ArgFn::max, value(), dim, at(where))};
  }
  burn::Tensor<D, Int> argmin(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::arg_reduce(ir::ArgFn::min, value(), dim, at(where))};
  }
  Tensor sort(int dim, Loc where = Loc::current()) const {
    return Tensor{client::sort(value(), dim, false, at(where)).values};
  }
  Tensor sort_descending(int dim, Loc where = Loc::current()) const {
    return Tensor{client::sort(value(), dim, true, at(where)).values};
  }
  // Ascending, and where each element was.
  std::pair<Tensor, burn::Tensor<D, Int>> sort_with_indices(int dim, Loc where = Loc::current()) const {
    auto [values, indices] = client::sort(value(), dim, false, at(where));
    return {Tensor{std::move(values)}, burn::Tensor<D, Int>{std::move(indices)}};
  }
  burn::Tensor<D, Int> argsort_descending(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::sort(value(), dim, true, at(where)).indices};
  }
  burn::Tensor<D, Int> argsort(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::sort(value(), dim, false, at(where)).indices};
  }
  // The k largest, in descending order.
  Tensor topk(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return Tensor{client::top_k(value(), dim, k, true, at(where)).values};
  }
  std::pair<Tensor, burn::Tensor<D, Int>> topk_with_indices(std::int64_t k, int dim, Loc where = Loc::current()) const {
    auto [values, indices] = client::top_k(value(), dim, k, true, at(where));
    return {Tensor{std::move(values)}, burn::Tensor<D, Int>{std::move(indices)}};
  }
  burn::Tensor<D, Int> argtopk(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::top_k(value(), dim, k, true, at(where)).indices};
  }
  Tensor cumsum(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::scan(Red::sum, value(), dim, at(where))};
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
};

}  // namespace detail
}  // namespace burn
