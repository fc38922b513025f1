// Methods of Tensor<D, K> that read and write a part: ranges, indices, masks. A base class of it: include
// client/tensor/tensor.h.
//
// An index out of range in a tensor of indices is detected on the device, and reported by the next read of the result.
#pragma once

#include <cstdint>
#include <future>
#include <utility>
#include <vector>

#include "client/ops/arrange.h"
#include "client/ops/indices.h"
#include "client/tensor/found.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

// How scatter(), select_assign() and scatter_nd() combine a value with the existing element: assign, add, mul, max,
// min.
using IndexingUpdateOp = ir::ScatterFn;

namespace detail {

template <int D, Kind K>
class IndexMethods {
  using Tensor = burn::Tensor<D, K>;
  using Vector = burn::Tensor<1 + 0 * D, Int>;  // 0 * D: a dependent type, instantiated when used
  using Places = burn::Tensor<2 + 0 * D, Int>;

 public:
  // --- ranges --------------------------------------------------------------------------------------------------------
  Tensor slice(const std::vector<Range>& ranges, Loc where = Loc::current()) const {
    return Tensor{client::slice(value(), ranges, at(where, "slice"))};
  }
  Tensor slice_dim(int dim, const Range& range, Loc where = Loc::current()) const {
    return Tensor{client::slice_dim(value(), dim, range, "slice_dim", at(where, "slice_dim"))};
  }
  Tensor slice_assign(const std::vector<Range>& ranges, const Tensor& values, Loc where = Loc::current()) const {
    return Tensor{client::slice_assign(value(), ranges, values.value(), at(where, "slice_assign"))};
  }
  Tensor slice_fill(const std::vector<Range>& ranges, Scalar number, Loc where = Loc::current()) const {
    return Tensor{client::slice_fill(value(), ranges, number, at(where, "slice_fill"))};
  }
  // The part at `index` of `dim`, which is removed: select_dim<1>(0, -1) of a matrix is its last row.
  template <int E = (D > 1 ? D - 1 : 1)>
  burn::Tensor<E, K> select_dim(int dim, std::int64_t index, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::select_dim(value(), dim, index, at(where, "select_dim")), "select_dim", where};
  }
  // x[i] is x.select_dim(0, i); for a vector, a tensor of one element.
  burn::Tensor<(D > 1 ? D - 1 : 1), K> operator[](Located<std::int64_t> index) const {
    return select_dim(0, index.value, index.where);
  }

  // --- tensors of indices (i32 or i64) -------------------------------------------------------------------------------
  Tensor gather(int dim, const burn::Tensor<D, Int>& indices, Loc where = Loc::current()) const {
    return Tensor{client::gather(value(), dim, indices.value(), at(where, "gather"))};
  }
  // Combines `values` with the elements at the indices; duplicates accumulate.
  Tensor scatter(int dim, const burn::Tensor<D, Int>& indices, const Tensor& values,
                 IndexingUpdateOp update = IndexingUpdateOp::add, Loc where = Loc::current()) const {
    return Tensor{client::scatter(value(), dim, indices.value(), values.value(), update, at(where, "scatter"))};
  }
  Tensor select(int dim, const Vector& indices, Loc where = Loc::current()) const {
    return Tensor{client::select_rows(value(), dim, indices.value(), at(where, "select"))};
  }
  Tensor select_assign(int dim, const Vector& indices, const Tensor& values,
                       IndexingUpdateOp update = IndexingUpdateOp::add, Loc where = Loc::current()) const {
    return Tensor{
        client::select_assign(value(), dim, indices.value(), values.value(), update, at(where, "select_assign"))};
  }
  // [..., n, ...] at indices of any shape: [..., *indices, ...]
  template <int I>
  burn::Tensor<D + I - 1, K> take(int dim, const burn::Tensor<I, Int>& indices, Loc where = Loc::current()) const
    requires(D + I - 1 <= ir::kMaxRank)
  {
    return burn::Tensor<D + I - 1, K>{client::take(value(), dim, indices.value(), at(where, "take"))};
  }
  // indices [*batch, k]: each row is a position in the first k dims. -> [*batch, *shape[k:]]
  template <int E, int I>
  burn::Tensor<E, K> gather_nd(const burn::Tensor<I, Int>& indices, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::gather_nd(value(), indices.value(), at(where, "gather_nd")), "gather_nd", where};
  }
  template <int I, int V>
  Tensor scatter_nd(const burn::Tensor<I, Int>& indices, const burn::Tensor<V, K>& values,
                    IndexingUpdateOp update = IndexingUpdateOp::add, Loc where = Loc::current()) const {
    return Tensor{client::scatter_nd(value(), indices.value(), values.value(), update, at(where, "scatter_nd"))};
  }
  // Adds a last dim of classes: 1 at the class, 0 elsewhere.
  template <int E = D + 1>
  burn::Tensor<E, K> one_hot(std::int64_t classes, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return burn::Tensor<E, K>{client::one_hot(value(), classes, at(where, "one_hot"))};
  }
  // Adds the dim at `axis` (of the result); a negative class counts from the end.
  burn::Tensor<D + 1, K> one_hot_fill(std::int64_t classes, Scalar on, Scalar off, int axis,
                                      Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return burn::Tensor<D + 1, K>{client::one_hot_fill(value(), classes, on, off, axis, at(where, "one_hot_fill"))};
  }

  // --- masks ---------------------------------------------------------------------------------------------------------
  // `other` where the mask is true, this elsewhere.
  Tensor mask_where(const burn::Tensor<D, Bool>& mask, const Tensor& other, Loc where = Loc::current()) const {
    return Tensor{client::select(mask.value(), other.value(), value(), at(where, "mask_where"))};
  }
  Tensor mask_fill(const burn::Tensor<D, Bool>& mask, Scalar number, Loc where = Loc::current()) const {
    const client::Value& x = value();
    client::fail_if_empty(x, "mask_fill", at(where, "mask_fill"));
    return Tensor{client::select(mask.value(),
                                 client::scalar(client::place_of(x), number, x.dtype(), at(where, "mask_fill")), x,
                                 at(where, "mask_fill"))};
  }
  // The elements where the mask is true, in row-major order. As for nonzero() and argwhere(), their number is first
  // read from the device: one round trip. The async forms send the request at once; get() waits, and records the rest.
  burn::Tensor<1, K> mask_select(const burn::Tensor<D, Bool>& mask, Loc where = Loc::current()) const {
    return burn::Tensor<1, K>{client::mask_select(value(), found_in(mask, at(where, "mask_select")))};
  }
  std::future<burn::Tensor<1, K>> mask_select_async(const burn::Tensor<D, Bool>& mask,
                                                    Loc where = Loc::current()) const {
    return std::async(std::launch::deferred,
                      [x = value(), found = found_in(mask, at(where, "mask_select_async"))]() mutable {
                        return burn::Tensor<1, K>{client::mask_select(x, std::move(found))};
                      });
  }
  // The positions where it is true: [n, D], one row for each.
  Places argwhere(Loc where = Loc::current()) const
    requires std::same_as<K, Bool>
  {
    return Places{client::argwhere(client::find(value(), "argwhere", at(where, "argwhere")))};
  }
  std::future<Places> argwhere_async(Loc where = Loc::current()) const
    requires std::same_as<K, Bool>
  {
    return std::async(std::launch::deferred,
                      [found = client::find(value(), "argwhere", at(where, "argwhere_async"))]() mutable {
                        return Places{client::argwhere(std::move(found))};
                      });
  }
  // The same, one vector for each dim.
  std::vector<Vector> nonzero(Loc where = Loc::current()) const
    requires std::same_as<K, Bool>
  {
    return client::tensors_of<Vector>(client::nonzero(client::find(value(), "nonzero", at(where, "nonzero"))));
  }
  std::future<std::vector<Vector>> nonzero_async(Loc where = Loc::current()) const
    requires std::same_as<K, Bool>
  {
    return std::async(std::launch::deferred,
                      [found = client::find(value(), "nonzero", at(where, "nonzero_async"))]() mutable {
                        return client::tensors_of<Vector>(client::nonzero(std::move(found)));
                      });
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
  client::Found found_in(const burn::Tensor<D, Bool>& mask, const client::Site& site) const {
    return client::find(client::mask_over(mask.value(), value(), site), "mask_select", site);
  }
};

}  // namespace detail
}  // namespace burn
