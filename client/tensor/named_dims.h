// Methods of NamedTensor along dims: reductions, scans, sorting.
#pragma once

#include <cstdint>
#include <utility>

#include "client/ops/activation.h"
#include "client/tensor/names.h"
#include "client/tensor/tensor.h"

namespace burn {

template <typename N, Kind K = Float>
class NamedTensor;

namespace detail {

template <typename N, int D, Kind K>
NamedTensor<N, K> with_names(Tensor<D, K> tensor) {
  return NamedTensor<N, K>{std::move(tensor)};
}

// A base class of NamedTensor<N, K>.
template <typename N, Kind K>
class NamedDims {
  static constexpr int D = static_cast<int>(N::kSize);

 public:
#define BURN_NAMED_ALL(name) \
  auto name(Loc where = Loc::current()) const { return self().tensor().name(where); }
  BURN_NAMED_ALL(sum)
  BURN_NAMED_ALL(mean)
  BURN_NAMED_ALL(prod)
  BURN_NAMED_ALL(max)
  BURN_NAMED_ALL(min)
  BURN_NAMED_ALL(any)
  BURN_NAMED_ALL(all)
#undef BURN_NAMED_ALL
#define BURN_NAMED_ALONG(name)                                         \
  template <DimName X>                                                 \
    requires HasName<N, X>                                             \
  auto name(Loc where = Loc::current()) const {                        \
    return detail::with_names<N>(self().tensor().name(kAt<X>, where)); \
  }
  BURN_NAMED_ALONG(sum_dim)
  BURN_NAMED_ALONG(mean_dim)
  BURN_NAMED_ALONG(prod_dim)
  BURN_NAMED_ALONG(max_dim)
  BURN_NAMED_ALONG(min_dim)
  BURN_NAMED_ALONG(any_dim)
  BURN_NAMED_ALONG(all_dim)
  BURN_NAMED_ALONG(argmax)
  BURN_NAMED_ALONG(argmin)
  BURN_NAMED_ALONG(var)
  BURN_NAMED_ALONG(var_bias)
  BURN_NAMED_ALONG(median)
  BURN_NAMED_ALONG(logsumexp)
  BURN_NAMED_ALONG(cumsum)
  BURN_NAMED_ALONG(cumprod)
  BURN_NAMED_ALONG(cummax)
  BURN_NAMED_ALONG(cummin)
  BURN_NAMED_ALONG(sort)
  BURN_NAMED_ALONG(argsort)
#undef BURN_NAMED_ALONG
#define BURN_NAMED_DIMS(name)                                                                          \
  template <DimName... X>                                                                              \
    requires(HasName<N, X> && ...)                                                                     \
  auto name(Loc where = Loc::current()) const {                                                        \
    return detail::with_names<N>(self().tensor().name({static_cast<std::int64_t>(kAt<X>)...}, where)); \
  }
  BURN_NAMED_DIMS(sum_dims)
  BURN_NAMED_DIMS(mean_dims)
  BURN_NAMED_DIMS(prod_dims)
  BURN_NAMED_DIMS(max_dims)
  BURN_NAMED_DIMS(min_dims)
  BURN_NAMED_DIMS(flip)
#undef BURN_NAMED_DIMS
  // The sum over the dims, which are removed.
  template <DimName... X>
    requires((HasName<N, X> && ...) && sizeof...(X) < N::kSize)
  auto sum_dims_squeeze(Loc where = Loc::current()) const {
    return detail::with_names<detail::NamesFrom<detail::without<N, Names<X...>>()>>(
        self().tensor().template sum_dims_squeeze<D - static_cast<int>(sizeof...(X))>(
            {static_cast<std::int64_t>(kAt<X>)...}, where));
  }
  template <DimName X>
    requires(HasName<N, X> && std::same_as<K, Float>)
  NamedTensor<N, K> softmax(Loc where = Loc::current()) const {
    return NamedTensor<N, K>{Tensor<D, K>{client::softmax(self().tensor().value(), kAt<X>, at(where))}};
  }
  template <DimName X>
    requires(HasName<N, X> && std::same_as<K, Float>)
  NamedTensor<N, K> log_softmax(Loc where = Loc::current()) const {
    return NamedTensor<N, K>{Tensor<D, K>{client::log_softmax(self().tensor().value(), kAt<X>, at(where))}};
  }

 private:
  template <DimName X>
  static constexpr int kAt = N::find(X);
  // Requires: this is part of a NamedTensor.
  const NamedTensor<N, K>& self() const { return static_cast<const NamedTensor<N, K>&>(*this); }
};

}  // namespace detail
}  // namespace burn
