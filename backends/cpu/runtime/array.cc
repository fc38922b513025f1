#include "backends/cpu/runtime/array.h"

#include <atomic>
#include <cstring>

#include "backends/run_args.h"

namespace burn::backends::cpu {

Array Array::immediate(ir::DType dtype, std::uint64_t bits) {
  Array array;
  array.dtype_ = dtype;
  const auto element = element_of_bits(dtype, bits);
  static_assert(sizeof element == sizeof array.immediate_);
  std::memcpy(array.immediate_, &element, sizeof element);
  return array;
}

std::optional<Array> Array::reshaped(const ir::Shape& shape) const {
  const auto strides = compile::reshaped_strides(shape_, strides_, shape);
  if (!strides) return std::nullopt;
  Array view = *this;
  view.shape_ = shape;
  view.strides_ = *strides;
  return view;
}

Array Array::permuted(const ir::Dims& axes) const {
  Array view = *this;
  for (int i = 0; i < rank(); ++i) {
    view.shape_[i] = shape_[static_cast<int>(axes[i])];
    view.strides_[i] = strides_[static_cast<int>(axes[i])];
  }
  return view;
}

Array Array::expanded(const ir::Shape& shape) const {
  Array view = *this;
  view.shape_ = shape;
  view.strides_ = ir::Dims::filled(shape.rank(), 0);
  const int added = shape.rank() - rank();
  for (int i = 0; i < rank(); ++i) {
    if (shape_[i] == shape[added + i]) view.strides_[added + i] = strides_[i];
  }
  return view;
}

Array Array::sliced(const ir::Dims& starts, const ir::Dims& sizes, const ir::Dims& steps) const {
  Array view = *this;
  view.shape_ = sizes;
  if (ir::num_elements(sizes) == 0) return view;  // the start may be out of range
  std::int64_t first = 0;
  for (int i = 0; i < rank(); ++i) {
    first += starts[i] * strides_[i];
    view.strides_[i] = strides_[i] * steps[i];
  }
  view.offset_ += first * static_cast<std::int64_t>(ir::size_of(dtype_));
  return view;
}

Array Array::without_dim(int axis) const {
  Array view = *this;
  view.shape_.erase(axis);
  view.strides_.erase(axis);
  return view;
}

bool may_overwrite(const Array& x) { return may_overwrite(std::span(&x, 1), 0); }

bool may_overwrite(std::span<const Array> operands, std::size_t which) {
  const Array& target = operands[which];
  if (!target.starts_its_buffer() || !target.is_contiguous() || target.buffer()->size() != target.num_bytes())
    return false;
  long views = 0;
  for (const auto& operand : operands) {
    if (operand.buffer() != target.buffer()) continue;
    if (operand.data() != target.data() || operand.shape() != target.shape() || !operand.is_contiguous()) return false;
    ++views;
  }
  if (target.buffer().use_count() != views) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // reads by former owners happen before later writes
  return true;
}

}  // namespace burn::backends::cpu
