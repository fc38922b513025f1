#include "ir/types/shape.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::ir {

Dims::Dims(std::span<const std::int64_t> values) {
  BURN_CHECK(values.size() <= kMaxRank, "too many dims");
  std::copy(values.begin(), values.end(), values_.begin());
  rank_ = static_cast<int>(values.size());
}

Dims Dims::filled(int rank, std::int64_t value) {
  BURN_CHECK(rank >= 0 && rank <= kMaxRank, "too many dims");
  Dims dims;
  dims.rank_ = rank;
  std::fill(dims.begin(), dims.end(), value);
  return dims;
}

void Dims::push_back(std::int64_t value) { insert(rank_, value); }

void Dims::insert(int position, std::int64_t value) {
  BURN_CHECK(rank_ < kMaxRank && position >= 0 && position <= rank_, "no room for another dim");
  ++rank_;
  std::copy_backward(begin() + position, end() - 1, end());
  values_[static_cast<std::size_t>(position)] = value;
}

void Dims::erase(int position) {
  BURN_CHECK(position >= 0 && position < rank_, "no such dim");
  std::copy(begin() + position + 1, end(), begin() + position);
  --rank_;
  values_[static_cast<std::size_t>(rank_)] = 0;
}

bool Dims::contains(std::int64_t value) const { return std::find(begin(), end(), value) != end(); }

std::int64_t num_elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

std::optional<std::int64_t> checked_num_elements(const Shape& shape) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 59;  // times 8 bytes stays below 2^62
  // A size of 0 makes the tensor empty, but strides computed from the other sizes must not overflow.
  std::int64_t product = 1;
  bool is_empty = false;
  for (const auto size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      is_empty = true;
      continue;
    }
    if (size > kLimit / product) return std::nullopt;
    product *= size;
  }
  return is_empty ? 0 : product;
}

Dims contiguous_strides(const Shape& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

std::string to_string(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

std::string to_string(const TensorType& type) { return std::string{name(type.dtype)} + to_string(type.shape); }

}  // namespace burn::ir
