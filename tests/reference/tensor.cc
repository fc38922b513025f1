#include "tests/reference/tensor.h"

#include <cstring>

#include "ir/dispatch.h"

namespace burn::reference {
namespace {

// From the wide type to the dtype and back.
template <typename T>
T narrow(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits);
  else
    return static_cast<T>(static_cast<ir::compute_t<T>>(std::bit_cast<double>(bits)));
}

template <typename T>
std::uint64_t widen(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(value);  // sign-extends
  else
    return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<ir::compute_t<T>>(value)));
}

}  // namespace

void Tensor::set_bits(std::size_t i, std::uint64_t value) {
  bits[i] = ir::dispatch(type.dtype, [value]<typename T>() { return widen(narrow<T>(value)); });
}

std::vector<std::byte> to_bytes(const Tensor& x) {
  std::vector<std::byte> bytes(x.type.num_bytes());
  ir::dispatch(x.type.dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T value = narrow<T>(x.bits[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

Tensor from_bytes(const ir::TensorType& type, std::span<const std::byte> bytes) {
  Tensor x(type);
  ir::dispatch(type.dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      x.bits[i] = widen(value);
    }
  });
  return x;
}

std::size_t position(const ir::Shape& shape, const ir::Dims& index) {
  std::int64_t at = 0;
  for (int i = 0; i < shape.rank(); ++i) at = at * shape[i] + index[i];
  return static_cast<std::size_t>(at);
}

}  // namespace burn::reference
