// How the numbers of a Tensor<D, K> come to the host. A base of it: include client/tensor/tensor.h.
//
// A read sends what is recorded and waits; the async forms do not wait, and their futures are ready when the numbers
// are here or lost, even if the tensor and its device have been dropped meanwhile. What went wrong is thrown
// (burn::Error), by get() of a future; the try_ forms give it as a Result. to_ and into_ are the same: copies are
// cheap. Several tensors in one round trip: client/tensor/transaction.h.
#pragma once

#include <future>
#include <utility>
#include <vector>

#include "base/status.h"
#include "client/tensor/data.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

// The call's value, or what it threw.
template <typename Call>
auto attempt(Call&& call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (const Error& error) {
    return error.status();
  }
}

template <int D, Kind K>
class ReadMethods {
  using Tensor = burn::Tensor<D, K>;

 public:
  TensorData to_data(Loc where = Loc::current()) const { return client::to_data(held("to_data", where)); }
  TensorData into_data(Loc where = Loc::current()) const { return to_data(where); }
  std::future<TensorData> to_data_async(Loc where = Loc::current()) const {
    return client::to_data_async(held("to_data_async", where));
  }
  std::future<TensorData> into_data_async(Loc where = Loc::current()) const { return to_data_async(where); }
  // Converted to another dtype, after the way: x.to_data_as<double>().
  template <Element T>
  TensorData to_data_as(Loc where = Loc::current()) const {
    return to_data(where).template convert<T>();
  }
  template <Element T>
  TensorData into_data_as(Loc where = Loc::current()) const {
    return to_data_as<T>(where);
  }
  TensorData to_data_dtype(DType dtype, Loc where = Loc::current()) const {
    return to_data(where).convert_dtype(dtype);
  }
  TensorData into_data_dtype(DType dtype, Loc where = Loc::current()) const { return to_data_dtype(dtype, where); }
  // The numbers in row-major order, converted to T.
  template <Element T>
  std::vector<T> to_vec_as(Loc where = Loc::current()) const {
    return to_data(where).template to_vec_as<T>();
  }
  // The one element. Without a T: a double of floats, which holds every float dtype exactly; a std::int64_t; a bool.
  // Converted to any T that is asked for, x.item<float>(), floats to integers toward zero. Errors: more or less than
  // one element; a whole number that an integer T does not have, such as a u64 of 2^63 or more where no T is given.
  template <Arithmetic T = typename K::Element>
  T into_scalar(Loc where = Loc::current()) const {
    return into_scalar_async<T>(where).get();
  }
  template <Arithmetic T = typename K::Element>
  T item(Loc where = Loc::current()) const {
    return into_scalar<T>(where);
  }
  template <Arithmetic T = typename K::Element>
  std::future<T> into_scalar_async(Loc where = Loc::current()) const {
    client::check_single(value(), at(where, "into_scalar_async"));
    return std::async(
        std::launch::deferred,
        [data = client::to_data_async(value()), spin_time = client::spin_time_of(value()), where]() mutable -> T {
          const auto number = client::wait_for(std::move(data), spin_time);
          client::check_whole(number, ir::kDTypeOf<T>, "into_scalar", at(where));
          return number.template to_vec_as<T>()[0];
        });
  }

  Result<TensorData> try_to_data(Loc where = Loc::current()) const {
    return attempt([&] { return to_data(where); });
  }
  Result<TensorData> try_into_data(Loc where = Loc::current()) const { return try_to_data(where); }
  template <Element T>
  Result<TensorData> try_to_data_as(Loc where = Loc::current()) const {
    return attempt([&] { return to_data_as<T>(where); });
  }
  template <Element T>
  Result<TensorData> try_into_data_as(Loc where = Loc::current()) const {
    return try_to_data_as<T>(where);
  }
  Result<TensorData> try_to_data_dtype(DType dtype, Loc where = Loc::current()) const {
    return attempt([&] { return to_data_dtype(dtype, where); });
  }
  Result<TensorData> try_into_data_dtype(DType dtype, Loc where = Loc::current()) const {
    return try_to_data_dtype(dtype, where);
  }
  template <Element T>
  Result<std::vector<T>> try_to_vec_as(Loc where = Loc::current()) const {
    return attempt([&] { return to_vec_as<T>(where); });
  }
  template <Element T>
  Result<std::vector<T>> try_into_vec_as(Loc where = Loc::current()) const {
    return try_to_vec_as<T>(where);
  }
  template <Arithmetic T = typename K::Element>
  Result<T> try_into_scalar(Loc where = Loc::current()) const {
    return attempt([&]() -> T { return into_scalar<T>(where); });
  }
  template <Arithmetic T = typename K::Element>
  std::future<Result<T>> try_into_scalar_async(Loc where = Loc::current()) const {
    return std::async(std::launch::deferred,
                      [asked = attempt([&] { return into_scalar_async<T>(where); })]() mutable -> Result<T> {
                        return attempt([&]() -> T { return value_or_throw(std::move(asked)).get(); });
                      });
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
  const client::Value& held(const char* what, const Loc& where) const {
    client::fail_if_empty(value(), what, at(where));
    return value();
  }
};

}  // namespace detail
}  // namespace burn
