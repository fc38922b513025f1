#include "client/tensor/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "client/fail.h"
#include "proto/session.h"

namespace burn {
namespace {

Error bad_data(const std::string& message) { return {StatusCode::invalid_argument, "tensor data: " + message}; }

template <typename To, std::floating_point From>
To saturate(From value) {
  using Limits = std::numeric_limits<To>;
  // 2^digits, the first number above the range, is exact in every floating type; max() often is not.
  constexpr From kAbove = static_cast<From>(2) * static_cast<From>(To{1} << (Limits::digits - 1));
  constexpr From kLowest = static_cast<From>(Limits::min());
  if (std::isnan(value)) return 0;
  if (value >= kAbove) return Limits::max();
  if (value <= kLowest) return Limits::min();
  return static_cast<To>(value);
}

// Converts one element by the rules of ir::Cast.
template <typename To, typename From>
To convert_element(From stored) {
  const auto value = static_cast<ir::compute_t<From>>(stored);
  using Value = std::remove_const_t<decltype(value)>;
  if constexpr (std::same_as<To, bool>) {
    return value != Value{0};
  } else if constexpr (std::floating_point<Value> && std::integral<To>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(static_cast<ir::compute_t<To>>(value));
  }
}

template <typename T>
SharedBytes uninitialized(std::size_t count, T*& values) {
  auto owner = std::make_shared_for_overwrite<T[]>(count);
  values = owner.get();
  return {owner, std::as_bytes(std::span(values, count))};
}

template <typename To, typename From>
SharedBytes convert_elements(std::span<const From> from) {
  To* to = nullptr;
  SharedBytes bytes = uninitialized(from.size(), to);
  std::transform(from.begin(), from.end(), to, convert_element<To, From>);
  return bytes;
}

SharedBytes aligned_for(SharedBytes bytes, ir::DType dtype) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % ir::size_of(dtype) == 0) return bytes;
  std::uint64_t* copy = nullptr;  // uint64_t for the alignment
  const SharedBytes room = uninitialized((bytes.size() + 7) / 8, copy);
  std::memcpy(copy, bytes.data(), bytes.size());
  return room.slice(0, bytes.size());
}

}  // namespace

TensorData::TensorData(SharedBytes bytes, ir::TensorType type) : type_(type) {
  const auto wanted = checked_count(type.shape) * ir::size_of(type.dtype);
  if (bytes.size() != wanted) {
    const auto size = ir::size_of(type.dtype);
    throw bad_data(bytes.size() % size == 0 ? std::to_string(bytes.size() / size) + " values do not fill " +
                                                  to_string(type) + ", which has " + std::to_string(wanted / size)
                                            : std::to_string(bytes.size()) + " bytes do not fill " + to_string(type) +
                                                  ", which has " + std::to_string(wanted));
  }
  bytes_ = aligned_for(std::move(bytes), type.dtype);
}

TensorData TensorData::from_bytes(SharedBytes bytes, ir::Shape shape, ir::DType dtype) {
  TensorData data(std::move(bytes), {dtype, shape});
  if (ir::is_bool(dtype)) {
    const auto all = data.as_bytes();
    const auto bad = std::find_if(all.begin(), all.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad != all.end()) {
      throw bad_data("element " + std::to_string(bad - all.begin()) + " of " + to_string(data.type()) + " is " +
                     std::to_string(std::to_integer<int>(*bad)) + ", neither 0 nor 1");
    }
  }
  return data;
}

TensorData TensorData::from_bytes_vec(std::vector<std::byte> bytes, ir::Shape shape, ir::DType dtype) {
  return from_bytes(SharedBytes::own(std::move(bytes)), shape, dtype);
}

TensorData TensorData::from_host(proto::HostTensor tensor) {
  return from_bytes(std::move(tensor.bytes), tensor.type.shape, tensor.type.dtype);
}

proto::HostTensor TensorData::host_tensor() const { return {type_, bytes_}; }

TensorData TensorData::zeros(ir::Shape shape, ir::DType dtype) { return full_dtype(shape, 0, dtype); }
TensorData TensorData::ones(ir::Shape shape, ir::DType dtype) { return full_dtype(shape, 1, dtype); }

TensorData TensorData::full_dtype(ir::Shape shape, Scalar value, ir::DType dtype) {
  const auto count = checked_count(shape);
  return ir::dispatch(dtype, [&]<typename T>() {
    T* values = nullptr;
    SharedBytes bytes = uninitialized(count, values);
    if constexpr (std::integral<T>)
      std::fill_n(values, count, static_cast<T>(value.bits(dtype)));
    else
      std::fill_n(values, count, convert_element<T>(value.as_double()));
    return TensorData(std::move(bytes), {dtype, shape});
  });
}

TensorData TensorData::convert_dtype(ir::DType dtype) const {
  if (dtype == type_.dtype) return *this;
  auto bytes = ir::dispatch(type_.dtype, [&]<typename From>() {
    return ir::dispatch(dtype, [&]<typename To>() { return convert_elements<To>(as_slice<From>()); });
  });
  return {std::move(bytes), {dtype, type_.shape}};
}

TensorData TensorData::reshape(ir::Shape shape) const {
  if (checked_count(shape) != num_elements()) {
    throw bad_data(to_string(type_) + " has " + std::to_string(num_elements()) + " elements and cannot become " +
                   to_string(shape));
  }
  return {bytes_, {type_.dtype, shape}};
}

bool operator==(const TensorData& a, const TensorData& b) {
  return a.type_ == b.type_ && std::ranges::equal(a.as_bytes(), b.as_bytes());
}

SharedBytes TensorData::own(const std::vector<bool>& values) {
  bool* copy = nullptr;
  SharedBytes bytes = uninitialized(values.size(), copy);
  std::copy(values.begin(), values.end(), copy);
  return bytes;
}

std::size_t TensorData::checked_count(const ir::Shape& shape) {
  const auto count = ir::checked_num_elements(shape);
  if (!count) throw bad_data("shape " + to_string(shape) + " has a negative size or too many elements");
  return static_cast<std::size_t>(*count);
}

Status TensorData::dtype_status(ir::DType wanted) const {
  if (wanted == type_.dtype) return {};
  return {StatusCode::invalid_argument, "tensor data: asked for " + std::string(ir::name(wanted)) +
                                            ", but the data are " + to_string(type_) + "; convert<T>() converts"};
}

void TensorData::check_dtype(ir::DType wanted, const Loc& where) const {
  if (const auto status = dtype_status(wanted); !status.ok()) client::fail(status.message(), at(where));
}

std::byte* TensorData::writable_bytes() {
  if (!was_written_ || !bytes_.is_sole()) {
    std::uint64_t* copy = nullptr;  // uint64_t for the alignment
    const auto size = bytes_.size();
    const SharedBytes room = uninitialized((size + 7) / 8, copy);
    if (size > 0) std::memcpy(copy, bytes_.data(), size);
    bytes_ = room.slice(0, size);
    was_written_ = true;
  }
  return const_cast<std::byte*>(bytes_.data());  // the copy made above, which is not const
}

namespace {

// Whether the dtype can represent the number, up to rounding.
template <typename To, typename From>
bool is_held(From stored) {
  const auto value = static_cast<ir::compute_t<From>>(stored);
  using Value = std::remove_const_t<decltype(value)>;
  if constexpr (std::same_as<To, bool>) {
    return value == Value{0} || value == Value{1};
  } else if constexpr (std::integral<To> && std::integral<Value> && !std::same_as<Value, bool>) {
    return std::in_range<To>(value);
  } else if constexpr (std::integral<To> && std::floating_point<Value>) {
    constexpr Value kAbove = static_cast<Value>(2) * static_cast<Value>(To{1} << (std::numeric_limits<To>::digits - 1));
    return value < kAbove && value >= static_cast<Value>(std::numeric_limits<To>::min()) && value == std::trunc(value);
  } else if constexpr (std::floating_point<Value>) {
    return !std::isfinite(value) ||
           std::isfinite(static_cast<double>(static_cast<ir::compute_t<To>>(convert_element<To>(stored))));
  } else {
    return std::isfinite(static_cast<double>(static_cast<ir::compute_t<To>>(convert_element<To>(stored))));
  }
}

}  // namespace

Result<TensorData> TensorData::try_cast(ir::DType dtype) const {
  const auto lost = ir::dispatch(type_.dtype, [&]<typename From>() {
    return ir::dispatch(dtype, [&]<typename To>() {
      const auto all = as_slice<From>();
      return std::find_if_not(all.begin(), all.end(), is_held<To, From>) - all.begin();
    });
  });
  if (lost == static_cast<std::ptrdiff_t>(num_elements())) return convert_dtype(dtype);
  return Status{StatusCode::out_of_range, "tensor data: element " + std::to_string(lost) + " of " + to_string(type_) +
                                              ", " +
                                              std::to_string(to_vec_as<double>()[static_cast<std::size_t>(lost)]) +
                                              ", is no " + std::string(ir::name(dtype))};
}

}  // namespace burn
