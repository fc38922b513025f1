// NamedTensor<Names<"batch", "time">, K>: a Tensor<2, K> whose dimensions have names, checked when the program is
// compiled. A thin layer without run-time cost: names are mapped to dim numbers, and Tensor computes. tensor() returns
// the Tensor, for functions that have no method here.
//
//   auto x = named<"batch", "time", "model">(tensor);
//   auto scores = q.matmul(k.rename<"time", "key">().swap_dims<"key", "model">());  // batch, time, key
//   auto mean = x.mean_dim<"time">();
//
// Dims of two operands are matched by name: the names of one must be among those of the other, in the same order, and
// the result has the longer list. Missing dims broadcast, as do sizes of 1. Names that do not match do not compile;
// sizes that do not match are an error of the call, which names the dim. Reductions keep their dim with size 1, as
// Tensor's do; sum_dims_squeeze() and squeeze_dim() remove it.
#pragma once

#include <ostream>
#include <utility>
#include <vector>

#include "client/tensor/named_dims.h"
#include "client/tensor/named_shape.h"
#include "client/tensor/names.h"
#include "client/tensor/tensor.h"

namespace burn {

namespace detail {

// Throws unless the sizes of every name in both lists are equal, or one of them is 1.
void check_named_sizes(const char* op, const DimName* a_names, const ir::Shape& a, const DimName* b_names,
                       const ir::Shape& b, const Loc& where);
void check_contraction(const DimName& name, std::int64_t a, std::int64_t b, const Loc& where);
void print_names(std::ostream& out, const DimName* names, const ir::Shape& shape);

// x with dims of size 1 added for the names of `To` that `From` lacks.
template <typename To, typename From, Kind K>
Tensor<static_cast<int>(To::kSize), K> aligned(const Tensor<static_cast<int>(From::kSize), K>& x, const Loc& where) {
  if constexpr (To::kSize == From::kSize) {
    return x;
  } else {
    std::array<std::int64_t, To::kSize> sizes;
    for (std::size_t i = 0; i < To::kSize; ++i) {
      const int from = From::find(To::kList[i]);
      sizes[i] = from < 0 ? 1 : x.dim(from, where);
    }
    return Tensor<static_cast<int>(To::kSize), K>{client::reshape(x.value(), ir::Dims{std::span{sizes}}, at(where))};
  }
}

}  // namespace detail

template <typename N, Kind K>
class NamedTensor : public detail::NamedDims<N, K>, public detail::NamedShape<N, K> {
  static_assert(detail::kIsNames<N>, "NamedTensor<Names<\"batch\", \"time\">, K>");
  static constexpr int D = static_cast<int>(N::kSize);

 public:
  using NamesType = N;
  using KindType = K;
  static constexpr int kRank = D;

  NamedTensor() = default;  // empty: only to be assigned to
  explicit NamedTensor(Tensor<D, K> tensor) : tensor_(std::move(tensor)) {}
  static NamedTensor from_tensor(Tensor<D, K> tensor) { return NamedTensor{std::move(tensor)}; }
  static NamedTensor zeros(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return NamedTensor{Tensor<D, K>::zeros(dims, options, where)};
  }
  static NamedTensor ones(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return NamedTensor{Tensor<D, K>::ones(dims, options, where)};
  }
  static NamedTensor full(const Dims<D>& dims, Scalar value, const TensorOptions& options, Loc where = Loc::current()) {
    return NamedTensor{Tensor<D, K>::full(dims, value, options, where)};
  }
  static NamedTensor random(const Dims<D>& dims, const Distribution& distribution, const TensorOptions& options,
                            Loc where = Loc::current()) {
    return NamedTensor{Tensor<D, K>::random(dims, distribution, options, where)};
  }

  // --- what it is ----------------------------------------------------------------------------------------------------
  const Tensor<D, K>& tensor() const { return tensor_; }
  Tensor<D, K> into_tensor() const { return tensor_; }
  static constexpr const std::array<DimName, N::kSize>& names() { return N::kList; }
  std::array<std::int64_t, N::kSize> dims(Loc where = Loc::current()) const { return tensor_.dims(where); }
  const ir::Shape& shape(Loc where = Loc::current()) const { return tensor_.shape(where); }
  template <DimName X>
    requires HasName<N, X>
  std::int64_t dim(Loc where = Loc::current()) const {
    return tensor_.dim(kAt<X>, where);
  }
  DType dtype(Loc where = Loc::current()) const { return tensor_.dtype(where); }
  Device device(Loc where = Loc::current()) const { return tensor_.device(where); }
  NamedTensor to_device(const Device& device, Loc where = Loc::current()) const {
    return NamedTensor{tensor_.to_device(device, where)};
  }
  NamedTensor cast(DType dtype, Loc where = Loc::current()) const { return NamedTensor{tensor_.cast(dtype, where)}; }
  TensorData to_data(Loc where = Loc::current()) const { return tensor_.to_data(where); }
  template <Element T>
  std::vector<T> to_vec_as(Loc where = Loc::current()) const {
    return tensor_.template to_vec_as<T>(where);
  }
  friend std::ostream& operator<<(std::ostream& out, Located<NamedTensor> x) {
    detail::print_names(out, N::kList.data(), x.value.shape(x.where));
    return out << Located<Tensor<D, K>>{x.value.tensor_, x.where};
  }

  // --- names ---------------------------------------------------------------------------------------------------------
  template <DimName From, DimName To>
    requires(HasName<N, From> && LacksName<N, To>)
  auto rename() const {
    return detail::with_names<detail::NamesFrom<detail::renamed<N>(From, To)>>(tensor_);
  }
  // Renames all dims: x.rename_all<"rows", "columns">().
  template <DimName... X>
    requires(sizeof...(X) == N::kSize)
  NamedTensor<Names<X...>, K> rename_all() const {
    return NamedTensor<Names<X...>, K>{tensor_};
  }

  // --- element by element --------------------------------------------------------------------------------------------
#define P1(name, forms, kind, ...)                       \
  auto name(Loc where = Loc::current()) const            \
    requires(detail::takes<K>(ir::PointwiseClass::kind)) \
  {                                                      \
    return detail::with_names<N>(tensor_.name(where));   \
  }
#define P2(name, method, kind, ...)                                                                       \
  template <typename M>                                                                                   \
    requires(NamesBroadcast<N, M> && detail::takes<K>(ir::PointwiseClass::kind))                          \
  auto method(const NamedTensor<M, K>& other, Loc where = Loc::current()) const {                         \
    return both(#method, other, where, [&](const auto& a, const auto& b) { return a.method(b, where); }); \
  }                                                                                                       \
  auto method(Scalar other, Loc where = Loc::current()) const                                             \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                  \
  {                                                                                                       \
    return detail::with_names<N>(tensor_.method(other, where));                                           \
  }
#define P3(...)
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
  NamedTensor square(Loc where = Loc::current()) const { return NamedTensor{tensor_.square(where)}; }
#define BURN_NAMED_OPERATOR(op, method)                                       \
  template <typename M>                                                       \
    requires NamesBroadcast<N, M>                                             \
  friend auto operator op(Located<NamedTensor> a, const NamedTensor<M, K>& b) \
    requires(!std::same_as<K, Bool>)                                          \
  {                                                                           \
    return a.value.method(b, a.where);                                        \
  }                                                                           \
  friend auto operator op(const NamedTensor& a, Located<Scalar> b)            \
    requires(!std::same_as<K, Bool>)                                          \
  {                                                                           \
    return a.method(b.value, b.where);                                        \
  }
  BURN_NAMED_OPERATOR(+, add)
  BURN_NAMED_OPERATOR(-, sub)
  BURN_NAMED_OPERATOR(*, mul)
  BURN_NAMED_OPERATOR(/, div)
  BURN_NAMED_OPERATOR(%, remainder)
  BURN_NAMED_OPERATOR(>, greater)
  BURN_NAMED_OPERATOR(>=, greater_equal)
  BURN_NAMED_OPERATOR(<, lower)
  BURN_NAMED_OPERATOR(<=, lower_equal)
#undef BURN_NAMED_OPERATOR
#define BURN_NAMED_OPERATOR(op)                                           \
  friend NamedTensor operator op(Located<Scalar> a, const NamedTensor& b) \
    requires Numeric<K>                                                   \
  {                                                                       \
    return NamedTensor{a op b.tensor_};                                   \
  }
  BURN_NAMED_OPERATOR(+)
  BURN_NAMED_OPERATOR(-)
  BURN_NAMED_OPERATOR(*)
  BURN_NAMED_OPERATOR(/)
#undef BURN_NAMED_OPERATOR
  friend NamedTensor operator-(Located<NamedTensor> a)
    requires Numeric<K>
  {
    return a.value.neg(a.where);
  }
  friend NamedTensor operator!(Located<NamedTensor> a)
    requires std::same_as<K, Bool>
  {
    return a.value.bool_not(a.where);
  }
  // `other` where the mask is true, this elsewhere; the names are this tensor's.
  template <typename M>
    requires(NamesBroadcast<N, M> && M::kSize <= N::kSize)
  NamedTensor mask_where(const NamedTensor<M, Bool>& mask, const NamedTensor& other, Loc where = Loc::current()) const {
    check("mask_where", mask, where);
    return NamedTensor{tensor_.mask_where(detail::aligned<N, M>(mask.tensor(), where), other.tensor_, where)};
  }
  template <typename M>
    requires(NamesBroadcast<N, M> && M::kSize <= N::kSize)
  NamedTensor mask_fill(const NamedTensor<M, Bool>& mask, Scalar number, Loc where = Loc::current()) const {
    check("mask_fill", mask, where);
    return NamedTensor{tensor_.mask_fill(detail::aligned<N, M>(mask.tensor(), where), number, where)};
  }
  // Applies f(tensor), which must keep the shape: x.map([](const auto& t) { return activation::gelu(t); }).
  template <typename F>
  auto map(F&& f) const {
    return detail::with_names<N>(std::forward<F>(f)(tensor_));
  }
  // Applies f(tensor, dim), which must keep the dims: x.map_dim<"time">([](const auto& t, int dim) { return
  // t.cumsum(dim); }).
  template <DimName X, typename F>
    requires HasName<N, X>
  auto map_dim(F&& f) const {
    return detail::with_names<N>(std::forward<F>(f)(tensor_, kAt<X>));
  }

  // --- products ------------------------------------------------------------------------------------------------------
  // [batch.., m, k] x [batch.., k, n] -> [batch.., m, n]: the last name of this tensor is the second to last of the
  // other; the batch dims have the same names, or one of the two has none.
  template <typename M>
    requires(NamesMultiply<N, M> && Numeric<K>)
  auto matmul(const NamedTensor<M, K>& other, Loc where = Loc::current()) const {
    using Product = detail::NamesFrom<detail::product_names<N, M>()>;
    constexpr int kRankOfProduct = static_cast<int>(Product::kSize);
    detail::check_contraction(N::kList[N::kSize - 1], tensor_.dim(D - 1, where),
                              other.tensor().dim(static_cast<int>(M::kSize) - 2, where), where);
    return detail::with_names<Product>(tensor_.template unsqueeze<kRankOfProduct>(where).matmul(
        other.tensor().template unsqueeze<kRankOfProduct>(where), where));
  }

  // --- gradients -----------------------------------------------------------------------------------------------------
  NamedTensor require_grad(Loc where = Loc::current()) const { return NamedTensor{tensor_.require_grad(where)}; }
  NamedTensor detach(Loc where = Loc::current()) const { return NamedTensor{tensor_.detach(where)}; }
  NamedTensor inner(Loc where = Loc::current()) const { return NamedTensor{tensor_.inner(where)}; }
  Gradients backward(const BackwardOptions& options = {}, Loc where = Loc::current()) const {
    return tensor_.backward(options, where);
  }
  std::optional<NamedTensor> grad(const Gradients& gradients, Loc where = Loc::current()) const {
    auto found = tensor_.grad(gradients, where);
    return found ? std::optional<NamedTensor>{NamedTensor{std::move(*found)}} : std::nullopt;
  }

 private:
  template <DimName X>
  static constexpr int kAt = N::find(X);

  template <typename M, Kind L>
  void check(const char* op, const NamedTensor<M, L>& other, const Loc& where) const {
    static_assert(NamesBroadcast<N, M>);
    if constexpr (N::kSize >= M::kSize) {
      detail::check_named_sizes(op, N::kList.data(), shape(where), M::kList.data(), other.shape(where), where);
    } else {
      detail::check_named_sizes(op, M::kList.data(), other.shape(where), N::kList.data(), shape(where), where);
    }
  }
  template <typename M, typename F>
  auto both(const char* op, const NamedTensor<M, K>& other, const Loc& where, F&& f) const {
    using Both = std::conditional_t<(N::kSize >= M::kSize), N, M>;
    check(op, other, where);
    return detail::with_names<Both>(
        f(detail::aligned<Both, N>(tensor_, where), detail::aligned<Both, M>(other.tensor(), where)));
  }

  Tensor<D, K> tensor_;
};

// named<"batch", "time">(x): the tensor with names for its dims.
template <DimName... X, int D, Kind K>
  requires(sizeof...(X) == D)
NamedTensor<Names<X...>, K> named(Tensor<D, K> tensor) {
  return NamedTensor<Names<X...>, K>{std::move(tensor)};
}

}  // namespace burn
