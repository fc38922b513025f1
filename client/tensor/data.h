// Numbers in host memory with a shape and an element type: tensors are made from it and read into it.
//
// A value: cheap to copy (the bytes are shared), safe to use from several threads; only as_mut_slice() writes, to a
// copy of shared bytes. Invariant: the bytes are row-major, aligned for the element type, exactly type().num_bytes() of
// them, and a bool is 0 or 1. Functions that would break it throw burn::Error.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "client/where.h"
#include "ir/dispatch.h"
#include "ir/types/shape.h"

namespace burn {

namespace proto {
struct HostTensor;
}
struct Distribution;

// The C++ types that store an element type: double, float, Half, BFloat16, std::int64_t ... std::uint8_t, bool.
template <typename T>
concept Element = false
#define DT(name, text, type, bytes, kind) || std::same_as<T, type>
#include "ir/types/dtype.def"
#undef DT
    ;

// a is close to the expected b when |a - b| <= atol + rtol * |b|.
struct Tolerance {
  double rtol = 1e-4;
  double atol = 1e-5;
};

template <Element T>
class Elements;

class TensorData {
 public:
  TensorData() : type_{ir::DType::f32, {0}} {}

  // Errors: a number of values other than the shape's.
  template <Element T>
  TensorData(std::vector<T> values, ir::Shape shape) : TensorData(own(std::move(values)), {ir::kDTypeOf<T>, shape}) {}

  // Shares `bytes`; copies them only when they are not aligned for `dtype`.
  // Errors: a size other than the shape's; a bool that is neither 0 nor 1.
  static TensorData from_bytes(SharedBytes bytes, ir::Shape shape, ir::DType dtype);
  static TensorData from_bytes_vec(std::vector<std::byte> bytes, ir::Shape shape, ir::DType dtype);
  static TensorData from_host(proto::HostTensor tensor);

  static TensorData zeros(ir::Shape shape, ir::DType dtype = ir::DType::f32);
  static TensorData ones(ir::Shape shape, ir::DType dtype = ir::DType::f32);
  static TensorData full_dtype(ir::Shape shape, Scalar value, ir::DType dtype);
  template <Element T>
  static TensorData full(ir::Shape shape, T value) {
    return {std::vector<T>(checked_count(shape), value), shape};
  }

  // Drawn on the host: the same seed gives the same numbers, which are not those that a device draws.
  static TensorData random(ir::Shape shape, const Distribution& distribution, std::uint64_t seed,
                           ir::DType dtype = ir::DType::f32);

  const ir::TensorType& type() const { return type_; }
  const ir::Shape& shape() const { return type_.shape; }
  ir::DType dtype() const { return type_.dtype; }
  int rank() const { return type_.shape.rank(); }
  std::size_t num_elements() const { return static_cast<std::size_t>(type_.num_elements()); }
  const SharedBytes& bytes() const { return bytes_; }
  const SharedBytes& into_bytes() const { return bytes_; }
  std::span<const std::byte> as_bytes() const { return bytes_.span(); }
  proto::HostTensor host_tensor() const;

  // The elements in place. Errors: T does not store dtype().
  template <Element T>
  std::span<const T> as_slice(Loc where = Loc::current()) const {
    check_dtype(ir::kDTypeOf<T>, where);
    return {reinterpret_cast<const T*>(bytes_.data()), num_elements()};
  }

  template <Element T>
  std::span<const T> view(Loc where = Loc::current()) const {
    return as_slice<T>(where);
  }
  // The same for writing; copies of this object are not changed. Valid until this object is copied or assigned to. A
  // bool must stay 0 or 1. Errors: T does not store dtype().
  template <Element T>
  std::span<T> as_mut_slice(Loc where = Loc::current()) {
    check_dtype(ir::kDTypeOf<T>, where);
    return {reinterpret_cast<T*>(writable_bytes()), num_elements()};
  }
  template <Element T>
  std::span<T> mut_view(Loc where = Loc::current()) {
    return as_mut_slice<T>(where);
  }

  // A copy of the elements. Errors: T does not store dtype().
  template <Element T>
  std::vector<T> to_vec(Loc where = Loc::current()) const {
    const auto values = as_slice<T>(where);
    return {values.begin(), values.end()};
  }
  template <Element T>
  std::vector<T> into_vec(Loc where = Loc::current()) const {
    return to_vec<T>(where);
  }
  template <Element T>
  Result<std::vector<T>> try_to_vec() const {
    if (auto status = dtype_status(ir::kDTypeOf<T>); !status.ok()) return status;
    return to_vec<T>();
  }
  template <Element T>
  Result<std::vector<T>> try_into_vec() const {
    return try_to_vec<T>();
  }

  // A copy of the elements, converted to T.
  template <Element T>
  std::vector<T> to_vec_as() const {
    return convert<T>().template to_vec<T>();
  }

  // A range over the elements as T, converted if need be: for (float x : data.iter<float>()).
  template <Element T>
  Elements<T> iter() const;

  // Conversion by the rules of ir::Cast: floats to integers toward zero and saturating (NaN gives 0), integers to
  // narrower ones modulo 2^bits, anything to bool as != 0. Shares the bytes when there is nothing to convert.
  TensorData convert_dtype(ir::DType dtype) const;
  template <Element T>
  TensorData convert() const {
    return convert_dtype(ir::kDTypeOf<T>);
  }

  // The same, but numbers that the dtype cannot represent are errors. Integers: fractions and numbers out of range;
  // floats: finite numbers that would become infinite; bool: numbers other than 0 and 1.
  Result<TensorData> try_cast(ir::DType dtype) const;
  template <Element T>
  Result<TensorData> try_cast_as() const {
    return try_cast(ir::kDTypeOf<T>);
  }

  // The same elements with another shape. Errors: another number of elements.
  TensorData reshape(ir::Shape shape) const;

  // Throws, naming the first elements that differ. NaN equals NaN. Not strict: `expected` is first converted to
  // dtype().
  void assert_eq(const TensorData& expected, bool strict = true) const;

  // Throws, naming the first elements that are not close after conversion of both to T.
  template <Element T = float>
  void assert_approx_eq(const TensorData& expected, Tolerance tolerance = {}) const {
    convert<T>().check_close(expected.convert<T>(), tolerance);
  }

  // Throws, naming the first element that is outside of [low, high), or of [low, high] (inclusive). NaN is in no range.
  void assert_within_range(double low, double high) const { check_range(low, high, false); }
  void assert_within_range_inclusive(double low, double high) const { check_range(low, high, true); }

  // Equal types and bitwise equal elements.
  friend bool operator==(const TensorData& a, const TensorData& b);

  // Nested brackets as numpy prints them; long data are shortened (options: client/tensor/print.h).
  friend std::ostream& operator<<(std::ostream& out, const TensorData& data);

 private:
  TensorData(SharedBytes bytes, ir::TensorType type);

  template <Element T>
  static SharedBytes own(std::vector<T> values) {
    return SharedBytes::own(std::move(values));
  }
  static SharedBytes own(const std::vector<bool>& values);
  static std::size_t checked_count(const ir::Shape& shape);

  void check_dtype(ir::DType wanted, const Loc& where) const;
  Status dtype_status(ir::DType wanted) const;
  void check_range(double low, double high, bool is_closed) const;
  std::byte* writable_bytes();
  void check_close(const TensorData& expected, Tolerance tolerance) const;

  ir::TensorType type_;
  SharedBytes bytes_;
  bool was_written_ = false;  // the bytes are a copy that as_mut_slice() made
};

// Returned by TensorData::iter(): owns the data that it iterates over.
template <Element T>
class Elements {
 public:
  explicit Elements(TensorData data) : data_(std::move(data)), values_(data_.as_slice<T>()) {}
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }
  T operator[](std::size_t i) const { return values_[i]; }

 private:
  TensorData data_;
  std::span<const T> values_;
};

template <Element T>
Elements<T> TensorData::iter() const {
  return Elements<T>(convert<T>());
}

}  // namespace burn
