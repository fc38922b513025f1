#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/index.h"
#include "backends/cpu/runtime/loops.h"

namespace burn::backends::cpu {
namespace {

using Nest = LoopNest<3>;  // 0: result, 1: x without its axis, 2: index

// Copies element by element, each from its own position. Along the last axis x does not move by itself.
template <typename T>
void gather_elements(std::int64_t n, const T* from, std::int64_t x_step, std::int64_t axis_stride,
                     const std::int64_t* position, std::int64_t index_step, T* to) {
  if (index_step == 1 && x_step == 0 && axis_stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[position[i]];
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * x_step + position[i * index_step] * axis_stride];
  }
}

template <typename T>
void gather(const Nest& nest, const T* x, std::int64_t axis_stride, const std::int64_t* index,
            UncheckedIndex* unchecked, T* y) {
  const auto [y_step, x_step, index_step] = nest.inner_strides();
  nest.for_all_runs([&, x_step = x_step, index_step = index_step](std::int64_t n, const auto& at) {
    T* to = y + at[0];
    const T* from = x + at[1];
    const std::int64_t* position = index + at[2];
    if (unchecked != nullptr) {
      return unchecked->each_block(n, position, [&](std::int64_t first, std::int64_t count) {
        gather_elements(count, from + first * x_step, x_step, axis_stride, position + first, index_step, to + first);
      });
    }
    if (index_step != 0) return gather_elements(n, from, x_step, axis_stride, position, index_step, to);
    from += *position * axis_stride;  // a part of a row
    if (x_step == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * x_step];
    }
  });
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Gather& op, const Signature& signature) {
  return Kernel([axis = static_cast<int>(op.axis), type = signature.result](
                    Run& run, std::span<Array> operands) -> Result<Array> {
    const Array& x = operands[0];
    BURN_TRY(Array y, run.allocate(type));
    if (y.num_elements() == 0) return y;
    // An index that is read once is checked as it is read.
    const auto size = x.shape()[axis];
    const bool checks = UncheckedIndex::takes(operands[1]);
    UncheckedIndex unchecked(size);
    Array index = operands[1];
    if (!checks) {
      BURN_TRY(index, checked_index(run, operands[1], size));
    }
    ir::Dims x_strides = x.strides();
    x_strides[axis] = 0;
    const Nest nest(y.shape(), {&y.strides(), &x_strides, &index.strides()});
    const auto axis_stride = x.strides()[axis];
    const auto* positions = index.as<std::int64_t>();
    auto* to_check = checks ? &unchecked : nullptr;
    switch (ir::size_of(type.dtype)) {
      case 1:
        gather(nest, x.as<std::uint8_t>(), axis_stride, positions, to_check, y.as<std::uint8_t>());
        break;
      case 2:
        gather(nest, x.as<std::uint16_t>(), axis_stride, positions, to_check, y.as<std::uint16_t>());
        break;
      case 4:
        gather(nest, x.as<std::uint32_t>(), axis_stride, positions, to_check, y.as<std::uint32_t>());
        break;
      default:
        gather(nest, x.as<std::uint64_t>(), axis_stride, positions, to_check, y.as<std::uint64_t>());
    }
    if (unchecked.has_failed()) return checked_index(run, operands[1], size).status();
    return y;
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
