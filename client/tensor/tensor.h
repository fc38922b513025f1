// Tensor<D, K>: numbers on a device, with rank and kind known at compile time.
//
// A thin façade over client::Value: templates check, functions work. Calls record and return at once; errors about
// shapes and dtypes are thrown at the call, errors of execution by whatever reads the result. Values: copying is cheap,
// nothing is changed in place. Two tensors broadcast where their sizes are equal or 1. Reductions over a dim keep it
// with size 1; over everything they give a Tensor<1> of one element. Dims may be negative: they count from the end.
#pragma once

#include <array>
#include <future>
#include <iosfwd>
#include <optional>
#include <vector>

#include "client/gradients.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K = Float>
class Tensor {
  static_assert(D >= 1 && D <= ir::kMaxRank);
  using Fn = ir::PointwiseFn;
  using Red = ir::ReduceFn;

 public:
  static constexpr int kRank = D;
  using KindType = K;

  Tensor() = default;  // empty: only to be assigned to
  // Requires: rank D and a dtype of kind K; throws otherwise.
  explicit Tensor(client::Value value) : value_(std::move(value)) {
    client::check(value_, D, K::holds(value_.dtype()), K::kName);
  }

  // --- creation ------------------------------------------------------------------------------------------------------
  static Tensor from_data(const TensorData& data, const TensorOptions& options) {
    return Tensor{client::from_data(data, options, K::holds(data.dtype()) ? data.dtype() : K::kDefault)};
  }
  static Tensor from_data(const typename detail::NestedList<D, typename K::Element>::type& list,
                          const TensorOptions& options, Loc where = Loc::current()) {
    ir::Dims shape;
    std::vector<typename K::Element> values;
    detail::flatten_list<D, typename K::Element>(list, 0, shape, values, where);
    return from_data(TensorData(std::move(values), shape), options);
  }
  static Tensor full(const Dims<D>& dims, Scalar value, const TensorOptions& options, Loc where = Loc::current()) {
    return Tensor{client::full(options.place(), dims, value, options.dtype.value_or(K::kDefault), at(where))};
  }
  static Tensor zeros(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return Tensor{client::filled(options.place(), dims, 0, options.dtype.value_or(K::kDefault), at(where))};
  }
  static Tensor ones(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return Tensor{client::filled(options.place(), dims, 1, options.dtype.value_or(K::kDefault), at(where))};
  }
  static Tensor empty(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return zeros(dims, options, where);
  }
  static Tensor zeros_like(const Tensor& x, Loc where = Loc::current()) {
    return x.filled_like("zeros_like", 0, where);
  }
  static Tensor ones_like(const Tensor& x, Loc where = Loc::current()) { return x.filled_like("ones_like", 1, where); }
  static Tensor full_like(const Tensor& x, Scalar value, Loc where = Loc::current()) {
    const auto& like = x.held("full_like", where);
    return Tensor{client::full(client::place_of(like), like.shape(), value, like.dtype(), at(where))};
  }
  static Tensor random(const Dims<D>& dims, const Distribution& distribution, const TensorOptions& options,
                       Loc where = Loc::current()) {
    return Tensor{client::random(dims, distribution, {options.device, options.dtype.value_or(K::kDefault)}, at(where))};
  }
  Tensor random_like(const Distribution& distribution, Loc where = Loc::current()) const {
    const auto& like = held("random_like", where);
    return Tensor{client::random(like.shape(), distribution, {device(), like.dtype()}, at(where))};
  }
  static Tensor arange(std::int64_t start, std::int64_t end, const TensorOptions& options, Loc where = Loc::current())
    requires(D == 1 && Numeric<K>)
  {
    return arange_step(start, end, 1, options, where);
  }
  static Tensor arange_step(std::int64_t start, std::int64_t end, std::int64_t step, const TensorOptions& options,
                            Loc where = Loc::current())
    requires(D == 1 && Numeric<K>)
  {
    return Tensor{client::arange(options.place(), start, end, step, options.dtype.value_or(K::kDefault), at(where))};
  }
  static Tensor eye(std::int64_t size, const TensorOptions& options, Loc where = Loc::current())
    requires(D == 2 && Numeric<K>)
  {
    const auto rows = client::arange(options.place(), 0, size, 1, DType::i64, at(where));
    const auto same = client::pointwise(Fn::equal, client::reshape(rows, {size, 1}, at(where)),
                                        client::reshape(rows, {1, size}, at(where)), at(where));
    return Tensor{client::cast(same, options.dtype.value_or(K::kDefault), at(where))};
  }

  // --- what it is ----------------------------------------------------------------------------------------------------
  const client::Value& value() const { return value_; }
  client::Value& mutable_value() { return value_; }  // for what assigns whole tensors; rank and kind stay the same
  // Errors (thrown), here and wherever numbers are asked for: an empty tensor.
  const ir::Shape& shape(Loc where = Loc::current()) const { return held("shape", where).shape(); }
  DType dtype(Loc where = Loc::current()) const { return held("dtype", where).dtype(); }
  static constexpr int rank() { return D; }
  Device device(Loc where = Loc::current()) const {
    return Device{held("device", where).device(), value_.is_autodiff()};
  }
  std::int64_t num_elements(Loc where = Loc::current()) const {
    return held("num_elements", where).type().num_elements();
  }
  std::array<std::int64_t, D> dims(Loc where = Loc::current()) const {
    const auto& shape = held("dims", where).shape();
    std::array<std::int64_t, D> sizes;
    std::copy(shape.begin(), shape.end(), sizes.begin());
    return sizes;
  }
  std::int64_t dim(int i, Loc where = Loc::current()) const { return held("dim", where).dim(i); }

  // --- reading: sends what is recorded and waits (the async forms do not) --------------------------------------------
  TensorData to_data(Loc where = Loc::current()) const { return client::to_data(held("to_data", where)); }
  TensorData into_data(Loc where = Loc::current()) const { return to_data(where); }
  // The future is ready when the numbers are here or lost, even if the tensor and its device have been dropped
  // meanwhile.
  std::future<TensorData> to_data_async(Loc where = Loc::current()) const {
    return client::to_data_async(held("to_data_async", where));
  }
  // Requires: one element.
  template <typename T>
  T into_scalar(Loc where = Loc::current()) const {
    client::check_single(value_, at(where));
    return to_data(where).template convert<T>().template as_slice<T>()[0];
  }
  friend std::ostream& operator<<(std::ostream& out, Located<Tensor> x) {
    return client::print(out, x.value.held("print", x.where)), out;
  }

  // --- element by element --------------------------------------------------------------------------------------------
  friend Tensor operator+(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.add(b.value, b.where);
  }
  friend Tensor operator-(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.sub(b.value, b.where);
  }
  friend Tensor operator*(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.mul(b.value, b.where);
  }
  friend Tensor operator/(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.div(b.value, b.where);
  }
  friend Tensor operator%(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.remainder(b.value, b.where);
  }
  friend Tensor operator+(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{a.pointwise(Fn::add, b.value, b.where)};
  }
  friend Tensor operator-(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{a.pointwise(Fn::sub, b.value, b.where)};
  }
  friend Tensor operator*(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{a.pointwise(Fn::mul, b.value, b.where)};
  }
  friend Tensor operator/(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{a.pointwise(Fn::div, b.value, b.where)};
  }
  friend Tensor operator%(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{a.pointwise(Fn::remainder, b.value, b.where)};
  }
  friend Tensor operator+(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return b.reversed(Fn::add, a);
  }
  friend Tensor operator-(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return b.reversed(Fn::sub, a);
  }
  friend Tensor operator*(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return b.reversed(Fn::mul, a);
  }
  friend Tensor operator/(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return b.reversed(Fn::div, a);
  }
  friend Tensor operator-(Located<Tensor> a)
    requires Numeric<K>
  {
    return a.value.neg(a.where);
  }
  friend Tensor operator!(Located<Tensor> a)
    requires std::same_as<K, Bool>
  {
    return a.value.bool_not(a.where);
  }
  friend Tensor operator&(const Tensor& a, Located<Tensor> b)
    requires std::same_as<K, Bool>
  {
    return a.bool_and(b.value, b.where);
  }
  friend Tensor operator|(const Tensor& a, Located<Tensor> b)
    requires std::same_as<K, Bool>
  {
    return a.bool_or(b.value, b.where);
  }
  friend Tensor operator^(const Tensor& a, Located<Tensor> b)
    requires std::same_as<K, Bool>
  {
    return a.bool_xor(b.value, b.where);
  }

  // One method for each row of the table: x.exp(), x.add(y), x.add(2), x.greater(y). Unary minus and the operators are
  // these. Integers stay integers: they compare with any number by its value, but add and multiply only with whole ones
  // (2 or 2.0; 0.5 is an error: to_float() first).
#define P1(name, forms, kind, ...)                                                                     \
  Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> name(Loc where = Loc::current()) const \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                               \
  {                                                                                                    \
    return Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{pointwise(Fn::name, where)};  \
  }
#define P2(name, method, kind, ...)                                                                                    \
  Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> method(const Tensor& other,                            \
                                                                       Loc where = Loc::current()) const               \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                               \
  {                                                                                                                    \
    return Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{pointwise(Fn::name, other, where)};           \
  }                                                                                                                    \
  Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> method(Scalar other, Loc where = Loc::current()) const \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                               \
  {                                                                                                                    \
    return Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{pointwise(Fn::name, other, where)};           \
  }
#define P3(...)  // mask_where and mask_fill below
#include "ir/pointwise.def"
#undef P1
#undef P2
#undef P3
  // The same functions under other names.
  template <typename Other>
  Tensor powf(const Other& other, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return powi(other, where);
  }
  template <typename Other>
  Tensor clamp_min(const Other& other, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return max_pair(other, where);
  }
  template <typename Other>
  Tensor clamp_max(const Other& other, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return min_pair(other, where);
  }

  Tensor square(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{pointwise(Fn::mul, *this, where)};
  }
  // Within [low, high]; of integers, the whole numbers there.
  Tensor clamp(Scalar low, Scalar high, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return clamp_min(low, where).clamp_max(high, where);
  }
  // `value` where the mask holds, this elsewhere.
  Tensor mask_where(const Tensor<D, Bool>& mask, const Tensor& value, Loc where = Loc::current()) const {
    return Tensor{client::select(mask.value(), value.value_, value_, at(where))};
  }
  Tensor mask_fill(const Tensor<D, Bool>& mask, Scalar value, Loc where = Loc::current()) const {
    const auto& x = held("mask_fill", where);
    return Tensor{
        client::select(mask.value(), client::scalar(client::place_of(x), value, x.dtype(), at(where)), x, at(where))};
  }
  Tensor cast(DType dtype, Loc where = Loc::current()) const { return Tensor{client::cast(value_, dtype, at(where))}; }
  Tensor<D, Int> to_int(Loc where = Loc::current()) const {
    return Tensor<D, Int>{client::cast(value_, DType::i64, at(where))};
  }
  Tensor<D, Float> to_float(Loc where = Loc::current()) const {
    return Tensor<D, Float>{client::cast(value_, DType::f32, at(where))};
  }
  Tensor<D, Bool> to_bool(Loc where = Loc::current()) const {
    return Tensor<D, Bool>{client::cast(value_, DType::bool_, at(where))};
  }

  // --- shape ---------------------------------------------------------------------------------------------------------
  template <int E>
  Tensor<E, K> reshape(const Dims<E>& dims, Loc where = Loc::current()) const {
    return Tensor<E, K>{client::reshape(value_, dims, at(where))};
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
    return Tensor{client::swap_dims(value_, a, b, at(where))};
  }
  Tensor permute(const Dims<D>& axes, Loc where = Loc::current()) const {
    return Tensor{client::permute(value_, axes, at(where))};
  }
  Tensor flip(std::vector<std::int64_t> axes, Loc where = Loc::current()) const {
    return Tensor{client::flip(value_, axes, at(where))};
  }
  template <int E>
  Tensor<E, K> flatten(int start, int end, Loc where = Loc::current()) const {
    return Tensor<E, K>{client::flatten(value_, start, end, at(where))};
  }
  template <int E = D - 1>
  Tensor<E, K> squeeze_dim(int dim, Loc where = Loc::current()) const {
    return Tensor<E, K>{client::squeeze(value_, {dim}, at(where))};
  }
  template <int E = D + 1>
  Tensor<E, K> unsqueeze_dim(int dim, Loc where = Loc::current()) const {
    return Tensor<E, K>{client::unsqueeze(value_, {dim}, at(where))};
  }
  template <int E>
  Tensor<E, K> expand(const Dims<E>& dims, Loc where = Loc::current()) const {
    return Tensor<E, K>{client::expand(value_, dims, at(where))};
  }
  Tensor repeat(const Dims<D>& times, Loc where = Loc::current()) const {
    return Tensor{client::repeat(value_, times, at(where))};
  }
  Tensor slice(std::vector<Range> ranges, Loc where = Loc::current()) const {
    return Tensor{client::slice(value_, ranges, at(where))};
  }
  Tensor slice_assign(std::vector<Range> ranges, const Tensor& values, Loc where = Loc::current()) const {
    return Tensor{client::slice_assign(value_, ranges, values.value_, at(where))};
  }
  Tensor narrow(int dim, std::int64_t start, std::int64_t length, Loc where = Loc::current()) const {
    return Tensor{client::narrow(value_, dim, start, length, at(where))};
  }
  static Tensor cat(const std::vector<Tensor>& parts, int dim, Loc where = Loc::current()) {
    return Tensor{client::concat(values_of(parts), dim, at(where))};
  }
  static Tensor<D + 1, K> stack(const std::vector<Tensor>& parts, int dim, Loc where = Loc::current()) {
    return Tensor<D + 1, K>{client::stack(values_of(parts), dim, at(where))};
  }

  // --- reductions ----------------------------------------------------------------------------------------------------
#define BURN_REDUCE(name, fn)                                       \
  Tensor<1, K> name(Loc where = Loc::current()) const               \
    requires Numeric<K>                                             \
  {                                                                 \
    return Tensor<1, K>{client::reduce_all(fn, value_, at(where))}; \
  }                                                                 \
  Tensor name##_dim(int dim, Loc where = Loc::current()) const      \
    requires Numeric<K>                                             \
  {                                                                 \
    return Tensor{client::reduce(fn, value_, {dim}, at(where))};    \
  }
  BURN_REDUCE(sum, Red::sum)
  BURN_REDUCE(prod, Red::prod)
  BURN_REDUCE(max, Red::max)
  BURN_REDUCE(min, Red::min)
#undef BURN_REDUCE
  Tensor<1, K> mean(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor<1, K>{client::mean_all(value_, at(where))};
  }
  Tensor mean_dim(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::mean(value_, {dim}, at(where))};
  }
  Tensor var(int dim, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::var(value_, {dim}, 1, at(where))};
  }
  Tensor<D, Int> argmax(int dim, Loc where = Loc::current()) const {
    return Tensor<D, Int>{client::arg_reduce(ir::ArgFn::max, value_, dim, at(where))};
  }
  Tensor<D, Int> argmin(int dim, Loc where = Loc::current()) const {
    return Tensor<D, Int>{client::arg_reduce(ir::ArgFn::min, value_, dim, at(where))};
  }
  Tensor sort(int dim, Loc where = Loc::current()) const {
    return Tensor{client::sort(value_, dim, false, at(where)).values};
  }
  Tensor sort_descending(int dim, Loc where = Loc::current()) const {
    return Tensor{client::sort(value_, dim, true, at(where)).values};
  }
  // Ascending, and where each element was.
  std::pair<Tensor, Tensor<D, Int>> sort_with_indices(int dim, Loc where = Loc::current()) const {
    auto [values, indices] = client::sort(value_, dim, false, at(where));
    return {Tensor{std::move(values)}, Tensor<D, Int>{std::move(indices)}};
  }
  Tensor<D, Int> argsort_descending(int dim, Loc where = Loc::current()) const {
    return Tensor<D, Int>{client::sort(value_, dim, true, at(where)).indices};
  }
  Tensor<D, Int> argsort(int dim, Loc where = Loc::current()) const {
    return Tensor<D, Int>{client::sort(value_, dim, false, at(where)).indices};
  }
  // The k largest, in descending order.
  Tensor topk(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return Tensor{client::top_k(value_, dim, k, true, at(where)).values};
  }
  std::pair<Tensor, Tensor<D, Int>> topk_with_indices(std::int64_t k, int dim, Loc where = Loc::current()) const {
    auto [values, indices] = client::top_k(value_, dim, k, true, at(where));
    return {Tensor{std::move(values)}, Tensor<D, Int>{std::move(indices)}};
  }
  Tensor<D, Int> argtopk(std::int64_t k, int dim, Loc where = Loc::current()) const {
    return Tensor<D, Int>{client::top_k(value_, dim, k, true, at(where)).indices};
  }
  Tensor cumsum(int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::scan(Red::sum, value_, dim, at(where))};
  }
  Tensor<1, Bool> any(Loc where = Loc::current()) const {
    return Tensor<1, Bool>{client::reduce_all(Red::max, to_bool(where).value(), at(where))};
  }
  Tensor<1, Bool> all(Loc where = Loc::current()) const {
    return Tensor<1, Bool>{client::reduce_all(Red::min, to_bool(where).value(), at(where))};
  }

  // --- indexing ------------------------------------------------------------------------------------------------------
  Tensor select(int dim, const Tensor<1, Int>& indices, Loc where = Loc::current()) const {
    return Tensor{client::select_rows(value_, dim, indices.value(), at(where))};
  }
  Tensor gather(int dim, const Tensor<D, Int>& indices, Loc where = Loc::current()) const {
    return Tensor{client::gather(value_, dim, indices.value(), at(where))};
  }
  // Adds `values` at the indices; duplicates accumulate.
  Tensor scatter(int dim, const Tensor<D, Int>& indices, const Tensor& values, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::scatter(value_, dim, indices.value(), values.value_, ir::ScatterFn::add, at(where))};
  }
  template <int E = D + 1>
  Tensor<E, K> one_hot(std::int64_t classes, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor<E, K>{client::one_hot(value_, classes, at(where))};
  }

  // [.., m, k] x [.., k, n] -> [.., m, n]
  Tensor matmul(const Tensor& rhs, Loc where = Loc::current()) const
    requires(D >= 2 && Numeric<K>)
  {
    return Tensor{client::matmul(value_, rhs.value_, at(where))};
  }

  // --- gradients: on a device.autodiff() -----------------------------------------------------------------------------
  Tensor require_grad(Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{client::require_grad(held("require_grad", where))};
  }
  bool is_require_grad() const { return value_.is_tracked() && client::is_leaf(value_); }
  Tensor detach(Loc where = Loc::current()) const { return Tensor{held("detach", where).detach()}; }
  Tensor inner(Loc where = Loc::current()) const { return Tensor{held("inner", where).inner()}; }
  static Tensor from_inner(const Tensor& x, Loc where = Loc::current()) {
    return Tensor{x.held("from_inner", where).from_inner()};
  }
  Gradients backward(const BackwardOptions& options = {}, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return client::backward(held("backward", where), options, at(where));
  }
  // The gradient of this leaf, on the inner device.
  std::optional<Tensor> grad(const Gradients& gradients, Loc where = Loc::current()) const {
    return wrap(gradients.get(held("grad", where)));
  }
  std::optional<Tensor> grad_remove(Gradients& gradients, Loc where = Loc::current()) const {
    return wrap(gradients.remove(held("grad_remove", where)));
  }

 private:
  const client::Value& held(const char* what, const Loc& where) const {
    client::fail_if_empty(value_, what, at(where));
    return value_;
  }
  client::Value pointwise(Fn fn, const Loc& where) const { return client::pointwise(fn, value_, at(where)); }
  client::Value pointwise(Fn fn, const Tensor& other, const Loc& where) const {
    return client::pointwise(fn, value_, other.value_, at(where));
  }
  client::Value pointwise(Fn fn, Scalar other, const Loc& where) const {
    return client::pointwise(fn, value_, other, at(where));
  }
  Tensor reversed(Fn fn, const Located<Scalar>& lhs) const {
    return Tensor{client::pointwise(fn, lhs.value, value_, at(lhs.where))};
  }
  Tensor filled_like(const char* what, int value, const Loc& where) const {
    const auto& like = held(what, where);
    return Tensor{client::filled(client::place_of(like), like.shape(), value, like.dtype(), at(where))};
  }
  static std::optional<Tensor> wrap(const std::optional<client::Value>& value) {
    return value ? std::optional<Tensor>{Tensor{*value}} : std::nullopt;
  }
  static std::vector<client::Value> values_of(const std::vector<Tensor>& parts) {
    std::vector<client::Value> values;
    values.reserve(parts.size());
    for (const auto& part : parts) values.push_back(part.value_);
    return values;
  }

  client::Value value_;
};

}  // namespace burn
