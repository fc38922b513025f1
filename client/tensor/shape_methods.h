// Methods of Tensor<D, K> that reshape, join and split it. A base class of it: include client/tensor/tensor.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "client/ops/arrange.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

// The padding that pad() writes around a tensor: a number (pad(pads, 0)), the tensor mirrored at its edge elements
// (which are not repeated), or its edge elements.
class PadMode {
 public:
  template <Arithmetic T>
  PadMode(T value) : value_(value) {}  // NOLINT: implicit, a number is a mode
  static PadMode constant(Scalar value) { return {client::PadKind::constant, value}; }
  static PadMode reflect() { return {client::PadKind::reflect, 0}; }
  static PadMode edge() { return {client::PadKind::edge, 0}; }

  client::PadKind kind() const { return kind_; }
  Scalar value() const { return value_; }

 private:
  PadMode(client::PadKind kind, Scalar value) : kind_(kind), value_(value) {}
  client::PadKind kind_ = client::PadKind::constant;
  Scalar value_;
};

namespace detail {

// Dims, sizes or shifts: {0, 2}.
using Numbers = std::vector<std::int64_t>;

template <int D, Kind K>
class ShapeMethods {
  using Tensor = burn::Tensor<D, K>;

 public:
  template <int E>
  burn::Tensor<E, K> reshape(const Dims<E>& dims, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::reshape(value(), dims, at(where, "reshape"))};
  }
  Tensor transpose(Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return Tensor{client::swap_dims(value(), -2, -1, at(where, "transpose"))};
  }
  Tensor t(Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return Tensor{client::swap_dims(value(), -2, -1, at(where, "t"))};
  }
  Tensor swap_dims(int a, int b, Loc where = Loc::current()) const {
    return Tensor{client::swap_dims(value(), a, b, at(where, "swap_dims"))};
  }
  Tensor permute(const Dims<D>& axes, Loc where = Loc::current()) const {
    return Tensor{client::permute(value(), axes, at(where, "permute"))};
  }
  // Moves the dims `from` to the positions `to`; the others keep their order.
  Tensor movedim(const Numbers& from, const Numbers& to, Loc where = Loc::current()) const {
    return Tensor{client::movedim(value(), from, to, at(where, "movedim"))};
  }
  Tensor movedim(int from, int to, Loc where = Loc::current()) const {
    return movedim(Numbers{from}, Numbers{to}, where);
  }
  Tensor flip(const Numbers& axes, Loc where = Loc::current()) const {
    return Tensor{client::flip(value(), axes, at(where, "flip"))};
  }
  // y[i] = x[(i + shift) mod n]: a positive shift moves elements toward index 0.
  Tensor roll(const Numbers& shifts, const Numbers& dims, Loc where = Loc::current()) const {
    return Tensor{client::roll(value(), shifts, dims, at(where, "roll"))};
  }
  Tensor roll_dim(std::int64_t shift, int dim, Loc where = Loc::current()) const {
    return Tensor{client::roll(value(), Numbers{shift}, Numbers{dim}, at(where, "roll_dim"))};
  }
  // The same tensor, marked as having one element per item of a batch along `dim`: a router splits it, and the values
  // computed from it, over its workers. On other devices it changes nothing.
  Tensor batched(int dim = 0, Loc where = Loc::current()) const {
    return Tensor{client::batched(value(), dim, at(where, "batched"))};
  }
  template <int E>
  burn::Tensor<E, K> flatten(int start, int end, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::flatten(value(), start, end, at(where, "flatten")), "flatten", where};
  }
  // Removes all dims of size 1 (but keeps one if there are no others). E: the rank of the result; default: one less.
  template <int E = (D > 1 ? D - 1 : 1)>
  burn::Tensor<E, K> squeeze(Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::squeeze_all(value(), at(where, "squeeze")), "squeeze", where};
  }
  template <int E = D - 1>
  burn::Tensor<E, K> squeeze_dim(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::squeeze(value(), {dim}, at(where, "squeeze_dim")), "squeeze_dim", where};
  }
  template <int E>
  burn::Tensor<E, K> squeeze_dims(const Numbers& dims, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::squeeze(value(), client::dims_of(dims, "squeeze_dims", at(where, "squeeze_dims")),
                                              at(where, "squeeze_dims")),
                              "squeeze_dims", where};
  }
  // Adds leading dims of size 1 up to rank E.
  template <int E>
  burn::Tensor<E, K> unsqueeze(Loc where = Loc::current()) const
    requires(E >= D)
  {
    return burn::Tensor<E, K>{client::unsqueeze_to(value(), E, at(where, "unsqueeze"))};
  }
  template <int E = D + 1>
  burn::Tensor<E, K> unsqueeze_dim(int dim, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::unsqueeze(value(), {dim}, at(where, "unsqueeze_dim")), "unsqueeze_dim", where};
  }
  // `dims` are positions in the result.
  template <int E>
  burn::Tensor<E, K> unsqueeze_dims(const Numbers& dims, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{
        client::unsqueeze(value(), client::dims_of(dims, "unsqueeze_dims", at(where, "unsqueeze_dims")),
                          at(where, "unsqueeze_dims")),
        "unsqueeze_dims", where};
  }
  template <int E>
  burn::Tensor<E, K> expand(const Dims<E>& dims, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::expand(value(), dims, at(where, "expand"))};
  }
  Tensor repeat(const Dims<D>& times, Loc where = Loc::current()) const {
    return Tensor{client::repeat(value(), times, at(where, "repeat"))};
  }
  Tensor repeat_dim(int dim, std::int64_t times, Loc where = Loc::current()) const {
    return Tensor{client::repeat_dim(value(), dim, times, at(where, "repeat_dim"))};
  }
  // [..., n, ...] -> [..., windows, ..., size]: windows of `size` elements along `dim`, `step` apart.
  template <int E = D + 1>
  burn::Tensor<E, K> unfold(int dim, std::int64_t size, std::int64_t step, Loc where = Loc::current()) const {
    return burn::Tensor<E, K>{client::unfold(value(), dim, size, step, at(where, "unfold")), "unfold", where};
  }
  // {before, after} for each of the last dims: x.pad({{1, 1}, {0, 2}}, PadMode::reflect()).
  Tensor pad(const client::Padding& pads, PadMode mode = 0, Loc where = Loc::current()) const {
    return Tensor{client::pad_as(value(), pads, mode.kind(), mode.value(), at(where, "pad"))};
  }
  // The elements with column - row >= diagonal (triu) or <= diagonal (tril) in the last two dims; zeros elsewhere.
  Tensor triu(std::int64_t diagonal = 0, Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return Tensor{client::triu(value(), diagonal, at(where, "triu"))};
  }
  Tensor tril(std::int64_t diagonal = 0, Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return Tensor{client::tril(value(), diagonal, at(where, "tril"))};
  }

  // --- parts and wholes ----------------------------------------------------------------------------------------------
  Tensor narrow(int dim, std::int64_t start, std::int64_t length, Loc where = Loc::current()) const {
    return Tensor{client::narrow(value(), dim, start, length, at(where, "narrow"))};
  }
  // Pieces of `size` along `dim`, the last with the remainder.
  std::vector<Tensor> split(std::int64_t size, int dim, Loc where = Loc::current()) const {
    return client::tensors_of<Tensor>(client::split(value(), size, dim, at(where, "split")));
  }
  std::vector<Tensor> split_with_sizes(const Numbers& sizes, int dim, Loc where = Loc::current()) const {
    return client::tensors_of<Tensor>(client::split_with_sizes(value(), sizes, dim, at(where, "split_with_sizes")));
  }
  // At most `chunks` pieces of ceil(n / chunks).
  std::vector<Tensor> chunk(std::int64_t chunks, int dim, Loc where = Loc::current()) const {
    return client::tensors_of<Tensor>(client::chunk(value(), chunks, dim, at(where, "chunk")));
  }
  // The slices of size 1 along `dim`, in order: for (const auto& row : x.iter_dim(0)).
  std::vector<Tensor> iter_dim(int dim, Loc where = Loc::current()) const {
    return client::tensors_of<Tensor>(client::chunk(
        value(), std::max<std::int64_t>(1, client::dim_size(value(), dim, "iter_dim", at(where, "iter_dim"))), dim,
        at(where, "iter_dim")));
  }
  static Tensor cat(const std::vector<Tensor>& parts, int dim, Loc where = Loc::current()) {
    return Tensor{client::concat(client::values_of(parts), dim, at(where, "cat"))};
  }
  static burn::Tensor<D + 1, K> stack(const std::vector<Tensor>& parts, int dim, Loc where = Loc::current()) {
    return burn::Tensor<D + 1, K>{client::stack(client::values_of(parts), dim, at(where, "stack"))};
  }

  // [.., m, k] x [.., k, n] -> [.., m, n]
  Tensor matmul(const Tensor& rhs, Loc where = Loc::current()) const
    requires(D >= 2 && Numeric<K>)
  {
    return Tensor{client::matmul(value(), rhs.value(), at(where, "matmul"))};
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
};

}  // namespace detail
}  // namespace burn
