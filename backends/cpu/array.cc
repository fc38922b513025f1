#include "backends/cpu/array.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ir/dispatch.h"

namespace burn::backends::cpu {

Array Array::immediate(ir::DType dtype, std::uint64_t bits) {
  Array array;
  array.dtype_ = dtype;
  ir::dispatch(dtype, [&]<typename T>() {
    T value{};
    if constexpr (std::is_same_v<T, bool>)
      value = bits != 0;
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(bits);
    else
      value = static_cast<T>(static_cast<ir::compute_t<T>>(std::bit_cast<double>(bits)));
    std::memcpy(array.immediate_, &value, sizeof value);
  });
  return array;
}

bool Array::is_contiguous() const {
  std::int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] == 1) continue;
    if (shape_[i] == 0) return true;
    if (strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

std::optional<Array> Array::reshaped(const ir::Shape& shape) const {
  Array view = *this;
  view.shape_ = shape;
  view.strides_ = ir::contiguous_strides(shape);
  if (num_elements() <= 1 || is_contiguous()) return view;

  // Walk both shapes from the inside; where products agree, the group of old dims must be one run of equal steps.
  int from = rank() - 1, to = shape.rank() - 1;
  while (from >= 0 && to >= 0) {
    std::int64_t old_size = shape_[from], new_size = shape[to];
    const int last_from = from, last_to = to;
    while (old_size != new_size) {
      if (old_size < new_size)
        old_size *= shape_[--from];
      else
        new_size *= shape[--to];
    }
    std::int64_t step = 0, next = 0;  // of the innermost element of the group, and what the next outer dim must have
    bool started = false;
    for (int i = last_from; i >= from; --i) {
      if (shape_[i] == 1) continue;
      if (!started)
        step = strides_[i];
      else if (strides_[i] != next)
        return std::nullopt;
      started = true;
      next = strides_[i] * shape_[i];
    }
    for (int i = last_to; i >= to; --i) {
      view.strides_[i] = step;
      step *= shape[i];
    }
    --from;
    --to;
  }
  for (; to >= 0; --to) view.strides_[to] = 0;  // only sizes of 1 are left
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
  if (ir::num_elements(sizes) == 0) return view;  // its start may lie outside
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
  std::atomic_thread_fence(std::memory_order_acquire);  // what former owners read, they have read
  return true;
}

}  // namespace burn::backends::cpu
