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
#include "client/ops/sampling.h"
#include "client/tensor/axis_methods.h"
#include "client/tensor/element_methods.h"
#include "client/tensor/operators.h"
#include "client/tensor/shape_methods.h"
#include "client/tensor/untyped.h"

namespace burn {

// The methods are in the bases, by what they do: element_methods.h, operators.h, shape_methods.h, axis_methods.h.
template <int D, Kind K = Float>
class Tensor : public detail::ElementMethods<D, K>,
               public detail::Operators<D, K>,
               public detail::ShapeMethods<D, K>,
               public detail::AxisMethods<D, K> {
  static_assert(D >= 1 && D <= ir::kMaxRank);
  using Fn = ir::PointwiseFn;

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

  // --- what needs other tensors to be complete types -----------------------------------------------------------------
  Tensor select(int dim, const Tensor<1, Int>& indices, Loc where = Loc::current()) const {
    return Tensor{client::select_rows(value_, dim, indices.value(), at(where))};
  }
  Tensor<1, Bool> any(Loc where = Loc::current()) const {
    return Tensor<1, Bool>{client::reduce_all(ir::ReduceFn::max, this->to_bool(where).value(), at(where))};
  }
  Tensor<1, Bool> all(Loc where = Loc::current()) const {
    return Tensor<1, Bool>{client::reduce_all(ir::ReduceFn::min, this->to_bool(where).value(), at(where))};
  }

  // What this image [n, c, h, w] has at the places of `grid` [n, h_out, w_out, 2]: x, then y, where -1 and 1 are the
  // image's borders -> [n, c, h_out, w_out]. Errors: another batch, an image without pixels.
  Tensor grid_sample_2d(const Tensor& grid, const GridSampleOptions& options = {}, Loc where = Loc::current()) const
    requires(D == 4 && std::same_as<K, Float>)
  {
    return Tensor{client::grid_sample_2d(value_, grid.value(), options, at(where))};
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
  // What backward passes that come by this tensor, or begin at it, do for memory (autodiff/checkpointing.h). Says so of
  // its copies, too. Errors: no gradient flows through it.
  Tensor with_gradient_checkpointing_strategy(GradientCheckpointingStrategy strategy, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    client::set_checkpointing(held("with_gradient_checkpointing_strategy", where), strategy, at(where));
    return *this;
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
  Tensor filled_like(const char* what, int value, const Loc& where) const {
    const auto& like = held(what, where);
    return Tensor{client::filled(client::place_of(like), like.shape(), value, like.dtype(), at(where))};
  }
  static std::optional<Tensor> wrap(const std::optional<client::Value>& value) {
    return value ? std::optional<Tensor>{Tensor{*value}} : std::nullopt;
  }

  client::Value value_;
};
static_assert(sizeof(Tensor<1>) == sizeof(client::Value));

}  // namespace burn
