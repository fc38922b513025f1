// Shapes, axes and every other short list of 64-bit numbers of an op, stored inline: no allocation per node.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "ir/types/dtype.h"

namespace burn::ir {

// The largest rank of any value, on the wire as in memory.
inline constexpr int kMaxRank = 8;

// Up to kMaxRank numbers. Cheap to copy.
class Dims {
 public:
  Dims() = default;
  // Requires: at most kMaxRank values (aborts otherwise; decoders check the length of a received list first).
  Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const std::int64_t> values);
  static Dims filled(int rank, std::int64_t value);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return values_[static_cast<std::size_t>(rank_ - 1)]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + rank_; }
  std::span<const std::int64_t> span() const { return {values_.data(), static_cast<std::size_t>(rank_)}; }

  void push_back(std::int64_t value);             // Requires: rank() < kMaxRank.
  void insert(int position, std::int64_t value);  // Requires: rank() < kMaxRank, 0 <= position <= rank().
  void erase(int position);                       // Requires: 0 <= position < rank().
  bool contains(std::int64_t value) const;

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Dims;  // sizes, outermost first; each >= 0

// The number of elements; 1 for rank 0. Requires: checked_num_elements has a value, which holds for every inferred
// type.
std::int64_t num_elements(const Shape& shape);

// The number of elements; std::nullopt if a size is negative or the product times 8 bytes does not fit 63 bits.
std::optional<std::int64_t> checked_num_elements(const Shape& shape);

// Row-major strides in elements.
Dims contiguous_strides(const Shape& shape);

std::string to_string(const Dims& dims);  // "[2, 3]"

// The dtype and shape of a value.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  std::int64_t num_elements() const { return ir::num_elements(shape); }
  std::size_t num_bytes() const { return static_cast<std::size_t>(num_elements()) * size_of(dtype); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

std::string to_string(const TensorType& type);  // "f32[2, 3]"

}  // namespace burn::ir
