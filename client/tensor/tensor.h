// Tensor<D, K>: numbers on a device, with rank and kind known at compile time.
//
// A thin façade over client::Value: templates check types, functions without templates do the work. Calls record an op
// and return at once; errors of shapes and dtypes are thrown at the call, errors of execution by the read of a result.
// Tensors are values: copying is cheap, nothing is changed in place. Two tensors broadcast if their sizes are equal or
// 1. Reductions over a dim keep it with size 1; over all elements they return a Tensor<1> of one element. Negative dims
// count from the end.
#pragma once

#include <array>
#include <iosfwd>
#include <utility>
#include <vector>

#include "client/ops/sampling.h"
#include "client/tensor/axis_methods.h"
#include "client/tensor/element_methods.h"
#include "client/tensor/gradient_methods.h"
#include "client/tensor/index_methods.h"
#include "client/tensor/operators.h"
#include "client/tensor/read_methods.h"
#include "client/tensor/shape_methods.h"
#include "client/tensor/untyped.h"

namespace burn {

// Most methods are in the base classes: element_methods.h, operators.h, shape_methods.h, index_methods.h,
// axis_methods.h, gradient_methods.h, read_methods.h. docs/api.md lists all of them.
template <int D, Kind K = Float>
class Tensor : public detail::ElementMethods<D, K>,
               public detail::Operators<D, K>,
               public detail::ShapeMethods<D, K>,
               public detail::IndexMethods<D, K>,
               public detail::AxisMethods<D, K>,
               public detail::GradientMethods<D, K>,
               public detail::ReadMethods<D, K> {
  static_assert(D >= 1 && D <= ir::kMaxRank);
  using Fn = ir::PointwiseFn;
  using List = typename detail::NestedList<D, typename K::Element>::type;

 public:
  static constexpr int kRank = D;
  using KindType = K;

  Tensor() = default;  // empty: only to be assigned to
  // Requires: rank D and a dtype of kind K; throws otherwise.
  explicit Tensor(client::Value value) : value_(std::move(value)) {
    client::check(value_, D, K::holds(value_.dtype()), K::kName);
  }
  // The same for a result of `op` called at `where`, which the error names.
  Tensor(client::Value value, const char* op, const Loc& where) : value_(std::move(value)) {
    client::check(value_, D, K::holds(value_.dtype()), K::kName, op, at(where));
  }
  // Does not compile: a tensor of another rank or kind is refused with a short error message.
  template <int E, Kind L>
    requires(E != D || !std::same_as<L, K>)
  Tensor(const Tensor<E, L>& other) : Tensor(unfit(other)) {}  // NOLINT: implicit, as the mistake is
  template <int E, Kind L>
  static const Tensor& unfit(const Tensor<E, L>&) {
    static_assert(E == D,
                  "this tensor does not have the rank that is asked for; unsqueeze(), squeeze() or "
                  "reshape() changes it");
    static_assert(E != D || std::same_as<L, K>,
                  "this tensor is not of the kind that is asked for; to_float(), to_int() or to_bool() "
                  "changes it");
    client::throw_empty();
  }

  // --- creation ------------------------------------------------------------------------------------------------------
  // The dtype is options.dtype if given, else the data's if it is of this kind, else the kind's default.
  static Tensor from_data(const TensorData& data, const TensorOptions& options, Loc where = Loc::current()) {
    return uploaded(data, options, "from_data", where);
  }
  // From nested lists of numbers, in options.dtype, else in the kind's default. Each number is rounded once, to that
  // dtype. Errors: a number of 2^63 or more in a dtype other than u64.
  static Tensor from_data(const List& list, const TensorOptions& options, Loc where = Loc::current()) {
    return from_list<typename K::Element>(list, options, "from_data", where);
  }
  // The same from lists of float, or of unsigned numbers. A template, so that the overload above is preferred if both
  // match, as for {1, 2}.
  template <typename T = typename K::ListElement>
  static Tensor from_data(const typename detail::NestedList<D, T>::type& list, const TensorOptions& options,
                          Loc where = Loc::current()) {
    return from_list<T>(list, options, "from_data", where);
  }
  // from_data() under the names of the kinds.
  static Tensor from_floats(const List& list, const TensorOptions& options, Loc where = Loc::current())
    requires std::same_as<K, Float>
  {
    return from_list<double>(list, options, "from_floats", where);
  }
  template <typename T = typename K::ListElement>
    requires std::same_as<K, Float>
  static Tensor from_floats(const typename detail::NestedList<D, T>::type& list, const TensorOptions& options,
                            Loc where = Loc::current()) {
    return from_list<T>(list, options, "from_floats", where);
  }
  static Tensor from_ints(const List& list, const TensorOptions& options, Loc where = Loc::current())
    requires std::same_as<K, Int>
  {
    return from_list<std::int64_t>(list, options, "from_ints", where);
  }
  template <typename T = typename K::ListElement>
    requires std::same_as<K, Int>
  static Tensor from_ints(const typename detail::NestedList<D, T>::type& list, const TensorOptions& options,
                          Loc where = Loc::current()) {
    return from_list<T>(list, options, "from_ints", where);
  }
  static Tensor from_bool(const TensorData& data, const TensorOptions& options, Loc where = Loc::current())
    requires std::same_as<K, Bool>
  {
    return uploaded(data, options, "from_bool", where);
  }
  static Tensor full(const Dims<D>& dims, Scalar value, const TensorOptions& options, Loc where = Loc::current()) {
    return Tensor{client::full(options.place(), dims, value, options.dtype.value_or(K::kDefault), at(where, "full")),
                  "full", where};
  }
  static Tensor zeros(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return filled(dims, 0, options, "zeros", where);
  }
  static Tensor ones(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return filled(dims, 1, options, "ones", where);
  }
  static Tensor empty(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return filled(dims, 0, options, "empty", where);
  }
  static Tensor zeros_like(const Tensor& x, Loc where = Loc::current()) {
    return x.filled_like("zeros_like", 0, where);
  }
  static Tensor ones_like(const Tensor& x, Loc where = Loc::current()) { return x.filled_like("ones_like", 1, where); }
  static Tensor empty_like(const Tensor& x, Loc where = Loc::current()) {
    return x.filled_like("empty_like", 0, where);
  }
  static Tensor full_like(const Tensor& x, Scalar value, Loc where = Loc::current()) {
    const auto& like = x.held("full_like", where);
    return Tensor{client::full(client::place_of(like), like.shape(), value, like.dtype(), at(where, "full_like"))};
  }
  static Tensor random(const Dims<D>& dims, const Distribution& distribution, const TensorOptions& options,
                       Loc where = Loc::current()) {
    return Tensor{
        client::random(dims, distribution, {options.device, options.dtype.value_or(K::kDefault)}, at(where, "random")),
        "random", where};
  }
  Tensor random_like(const Distribution& distribution, Loc where = Loc::current()) const {
    const auto& like = held("random_like", where);
    return Tensor{client::random(like.shape(), distribution, {device(), like.dtype()}, at(where, "random_like"))};
  }
  static Tensor arange(std::int64_t start, std::int64_t end, const TensorOptions& options, Loc where = Loc::current())
    requires(D == 1 && Numeric<K>)
  {
    return Tensor{
        client::arange(options.place(), start, end, 1, options.dtype.value_or(K::kDefault), at(where, "arange")),
        "arange", where};
  }
  static Tensor arange_step(std::int64_t start, std::int64_t end, std::int64_t step, const TensorOptions& options,
                            Loc where = Loc::current())
    requires(D == 1 && Numeric<K>)
  {
    return Tensor{client::arange(options.place(), start, end, step, options.dtype.value_or(K::kDefault),
                                 at(where, "arange_step")),
                  "arange_step", where};
  }
  static Tensor eye(std::int64_t size, const TensorOptions& options, Loc where = Loc::current())
    requires(D == 2 && Numeric<K>)
  {
    return Tensor{client::eye(options.place(), size, options.dtype.value_or(K::kDefault), at(where, "eye")), "eye",
                  where};
  }

  // Masks over the last two dims: false for the elements that tril(offset) or triu(offset) keeps, or (diag_mask) on the
  // diagonal column - row = offset; true elsewhere.
  static Tensor tril_mask(const Dims<D>& dims, std::int64_t offset, const TensorOptions& options,
                          Loc where = Loc::current())
    requires(D >= 2 && std::same_as<K, Bool>)
  {
    return Tensor{
        client::diagonal_mask(options.place(), dims, Fn::greater, offset, "tril_mask", at(where, "tril_mask"))};
  }
  static Tensor triu_mask(const Dims<D>& dims, std::int64_t offset, const TensorOptions& options,
                          Loc where = Loc::current())
    requires(D >= 2 && std::same_as<K, Bool>)
  {
    return Tensor{client::diagonal_mask(options.place(), dims, Fn::lower, offset, "triu_mask", at(where, "triu_mask"))};
  }
  static Tensor diag_mask(const Dims<D>& dims, std::int64_t offset, const TensorOptions& options,
                          Loc where = Loc::current())
    requires(D >= 2 && std::same_as<K, Bool>)
  {
    return Tensor{
        client::diagonal_mask(options.place(), dims, Fn::not_equal, offset, "diag_mask", at(where, "diag_mask"))};
  }
  // [*dims, E - 1]: at [i, j, ...] the numbers i, j, ...
  template <int E>
  static Tensor<E, Int> cartesian_grid(const Dims<E - 1>& dims, const TensorOptions& options,
                                       Loc where = Loc::current())
    requires std::same_as<K, Int>
  {
    const auto site = at(where, "cartesian_grid");
    const auto grid = client::cartesian_grid(options.place(), dims, site);
    return {options.dtype ? client::cast(grid, *options.dtype, site) : grid, "cartesian_grid", where};
  }

  // --- what it is ----------------------------------------------------------------------------------------------------
  const client::Value& value() const { return value_; }
  // The value, leaving this tensor empty.
  client::Value extract() { return std::exchange(value_, {}); }
  // x.inplace(f) is x = f(x), but without keeping a copy of x meanwhile: results of f may reuse x's memory.
  template <typename F>
  void inplace(F&& f) {
    *this = std::forward<F>(f)(Tensor{extract()});
  }
  bool can_mut() const { return client::can_mut(value_); }  // no other tensor holds these numbers
  client::Value& mutable_value() { return value_; }         // to assign whole tensors. Requires: the same rank and kind
  // Errors (thrown) of these functions and of all reads: an empty tensor.
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
  // The same numbers on another device. A tracked tensor can only move between a device and its autodiff(), as
  // gradients do not flow between devices: detach() it first.
  Tensor to_device(const Device& device, Loc where = Loc::current()) const {
    return Tensor{client::to_device(value_, device, at(where, "to_device"))};
  }

  friend std::ostream& operator<<(std::ostream& out, Located<Tensor> x) {
    return client::print(out, x.value.held("print", x.where)), out;
  }

  // --- sampling ------------------------------------------------------------------------------------------------------
  // Samples this image [n, c, h, w] at the coordinates `grid` [n, h_out, w_out, 2] (x, then y; -1 and 1 are the image's
  // borders) -> [n, c, h_out, w_out]. Errors: different batch sizes; an image without pixels.
  Tensor grid_sample_2d(const Tensor& grid, const GridSampleOptions& options = {}, Loc where = Loc::current()) const
    requires(D == 4 && std::same_as<K, Float>)
  {
    return Tensor{client::grid_sample_2d(value_, grid.value(), options, at(where, "grid_sample_2d"))};
  }

 private:
  const client::Value& held(const char* what, const Loc& where) const {
    client::fail_if_empty(value_, what, at(where));
    return value_;
  }
  static Tensor uploaded(const TensorData& data, const TensorOptions& options, const char* what, const Loc& where) {
    return Tensor{client::from_data(data, options, K::holds(data.dtype()) ? data.dtype() : K::kDefault), what, where};
  }
  template <typename T>
  static Tensor from_list(const typename detail::NestedList<D, T>::type& list, const TensorOptions& options,
                          const char* what, const Loc& where) {
    ir::Dims shape;
    std::vector<T> values;
    detail::flatten_list<D, T>(list, 0, shape, values, what, where);
    const TensorData data(std::move(values), shape);
    if constexpr (std::same_as<T, std::uint64_t>)
      client::check_whole(data, options.dtype.value_or(K::kDefault), what, at(where));
    return Tensor{client::from_data(data, options, K::kDefault), what, where};
  }
  static Tensor filled(const Dims<D>& dims, int value, const TensorOptions& options, const char* what,
                       const Loc& where) {
    return Tensor{client::filled(options.place(), dims, value, options.dtype.value_or(K::kDefault), at(where, what)),
                  what, where};
  }
  Tensor filled_like(const char* what, int value, const Loc& where) const {
    const auto& like = held(what, where);
    return Tensor{client::filled(client::place_of(like), like.shape(), value, like.dtype(), at(where, what))};
  }

  client::Value value_;
};
static_assert(sizeof(Tensor<1>) == sizeof(client::Value));

template <int D, Kind K, int E, Kind L>
constexpr bool detail::kIsUnfit<Tensor<D, K>, Tensor<E, L>> = E != D || !std::same_as<L, K>;

// For Device::place().
template <int D, Kind K>
Tensor<D, K> place_on(const Device& device, const Tensor<D, K>& x, const SplitAlong& split, const client::Site& site) {
  return Tensor<D, K>{client::placed_on(device, x.value(), split, site)};
}

}  // namespace burn
