// How Tensor<D, K> is reshaped, cut and put together, and indexed by tensors. A base of it: include
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
class ShapeMethods {
  using Tensor = burn::Tensor<D, K>;

 public:
  template <int E>
  burn::Tensor<E, K> reshape(const Dims<E>& dims, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::reshape(value(), dims, at(where))};
  }
  Tensor transpose(Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return swap_dims(-2, -1, where);
  }
  Tensor t(Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return swap_dims(-2, -1, where);
  }
  Tensor swap_dims(int a, int b, Loc where = Loc::current()) const {
    return Tensor{client::swap_dims(value(), a, b, at(where))};
  }
  Tensor permute(const Dims<D>& axes, Loc where = Loc::current()) const {
    return Tensor{client::permute(value(), axes, at(where))};
  }
  Tensor flip(const std::vector<std::int64_t>& axes, Loc where = Loc::current()) const {
    return Tensor{client::flip(value(), axes, at(where))};
  }
  template <int E>
  burn::Tensor<E, K> flatten(int start, int end, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::flatten(value(), start, end, at(where))};
  }
  template <int E = D - 1>
  burn::Tensor<E, K> squeeze_dim(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::squeeze(value(), {dim}, at(where))};
  }
  template <int E = D + 1>
  burn::Tensor<E, K> unsqueeze_dim(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::unsqueeze(value(), {dim}, at(where))};
  }
  template <int E>
  burn::Tensor<E, K> expand(const Dims<E>& dims, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::expand(value(), dims, at(where))};
  }
  Tensor repeat(const Dims<D>& times, Loc where = Loc::current()) const {
    return Tensor{client::repeat(value(), times, at(where))};
  }
  Tensor slice(const std::vector<Range>& ranges, Loc where = Loc::current()) const {
    return Tensor{client::slice(value(), ranges, at(where))};
  }
  Tensor slice_assign(const std::vector<Range>& ranges, const Tensor& values, Loc where = Loc::current()) const {
    return Tensor{client::slice_assign(value(), ranges, values.value(), at(where))};
  }
  Tensor narrow(int dim, std::int64_t start, std::int64_t length, Loc where = Loc::current()) const {
    return Tensor{client::narrow(value(), dim, start, length, at(where))};
  }
  static Tensor cat(const std::vector<Tensor>& parts, int dim, Loc where = Loc::current()) {
    return Tensor{client::concat(client::values_of(parts), dim, at(where))};
  }
  static burn::Tensor<D + 1, K> stack(const std::vector<Tensor>& parts, int dim, Loc where = Loc::current()) {
    return burn::Tensor<D + 1, K>{client::stack(client::values_of(parts), dim, at(where))};
  }

  Tensor gather(int dim, const burn::Tensor<D, Int>& indices, Loc where = Loc::current()) const {
    return Tensor{client::gather(value(), dim, indices.value(), at(where))};
  }
  // Adds `values` at the indices; duplicates accumulate.
  Tensor scatter(int dim, const burn::Tensor<D, Int>& indices, const Tensor& values, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::scatter(value(), dim, indices.value(), values.value(), ir::ScatterFn::add, at(where))};
  }
  template <int E = D + 1>
  burn::Tensor<E, K> one_hot(std::int64_t classes, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return burn::Tensor<E, K>{client::one_hot(value(), classes, at(where))};
  }

  // [.., m, k] x [.., k, n] -> [.., m, n]
  Tensor matmul(const Tensor& rhs, Loc where = Loc::current()) const
    requires(D >= 2 && Numeric<K>)
  {
    return Tensor{client::matmul(value(), rhs.value(), at(where))};
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
};

}  // namespace detail
}  // namespace burn
