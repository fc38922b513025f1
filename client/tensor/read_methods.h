// Methods of Tensor<D, K> that read its numbers from the device. A base class of it: include client/tensor/tensor.h.
//
// A read sends the recorded ops and waits. The async forms do not wait; their futures become ready when the numbers
// have arrived or are lost, even if the tensor and its device have been dropped meanwhile. Errors are thrown
// (burn::Error), by get() of a future; the try_ forms return them in a Result. to_ and into_ are the same, as copies
// are cheap. Several tensors in one round trip: client/tensor/transaction.h.
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

// The result of the call, or the error that it threw.
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
  // Converts to another dtype after the transfer: x.to_data_as<double>().
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
  // The only element. Without a T: a double for floats, which represents every float dtype exactly, a std::int64_t or a
  // bool. With one, x.item<float>(), it is converted to T, floats to integers toward zero. Errors: more or less than
  // one element; a whole number that an integer T cannot represent, such as a u64 of 2^63 or more without a T.
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
