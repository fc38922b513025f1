// A value while a program runs: numbers in a buffer, viewed through a shape and strides.
//
// Views (reshape, permute, expand, slice) share the buffer. A known number (Constant, Scalar) needs no buffer: it is
// stored in the array itself, with stride 0 wherever it is expanded, so kernels read it like any other operand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "backends/cpu/runtime/memory.h"
#include "compile/plan/views.h"
#include "ir/types/shape.h"

namespace burn::backends::cpu {

class Array {
 public:
  Array() = default;
  // Row-major from the start of the buffer.
  Array(const ir::TensorType& type, CpuBufferPtr buffer)
      : dtype_(type.dtype),
        shape_(type.shape),
        strides_(ir::contiguous_strides(type.shape)),
        buffer_(std::move(buffer)) {}
  // A known number; `bits` as in ir::Constant.
  static Array immediate(ir::DType dtype, std::uint64_t bits);

  ir::DType dtype() const { return dtype_; }
  const ir::Shape& shape() const { return shape_; }
  const ir::Dims& strides() const { return strides_; }  // in elements; 0 in dims that repeat, negative in reversed ones
  int rank() const { return shape_.rank(); }
  std::int64_t num_elements() const { return ir::num_elements(shape_); }
  std::size_t num_bytes() const { return static_cast<std::size_t>(num_elements()) * ir::size_of(dtype_); }
  ir::TensorType type() const { return {dtype_, shape_}; }

  // The first element. Requires, for a write: no other thread reads.
  std::byte* data() { return buffer_ ? buffer_->data() + offset_ : immediate_; }
  const std::byte* data() const { return buffer_ ? buffer_->data() + offset_ : immediate_; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  const CpuBufferPtr& buffer() const { return buffer_; }  // null for a number
  bool is_contiguous() const { return compile::is_contiguous(shape_, strides_); }
  bool starts_its_buffer() const { return buffer_ && offset_ == 0; }

  // Views.
  std::optional<Array> reshaped(const ir::Shape& shape) const;  // std::nullopt if only a copy has that shape
  Array permuted(const ir::Dims& axes) const;
  Array expanded(const ir::Shape& shape) const;
  Array sliced(const ir::Dims& starts, const ir::Dims& sizes, const ir::Dims& steps) const;
  Array without_dim(int axis) const;  // its first slice along the axis

 private:
  ir::DType dtype_ = ir::DType::f32;
  ir::Shape shape_;
  ir::Dims strides_;
  CpuBufferPtr buffer_;
  std::int64_t offset_ = 0;  // of the first element, in bytes
  alignas(8) std::byte immediate_[8] = {};
};

// Whether the array is the only owner of its buffer, whole and row-major, so that a result of as many bytes may
// overwrite it.
bool may_overwrite(const Array& x);

// The same for operands[which] of a function that reads and writes element by element: other operands may be the
// identical view.
bool may_overwrite(std::span<const Array> operands, std::size_t which);

}  // namespace burn::backends::cpu
