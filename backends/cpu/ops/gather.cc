#include <algorithm>
#include <cstring>

#include "backends/cpu/loops.h"
#include "backends/cpu/ops/index.h"

namespace burn::backends::cpu {
namespace {

using Nest = LoopNest<3>;  // 0: result, 1: x without its axis, 2: index

template <typename T>
void gather(const Nest& nest, const T* x, std::int64_t axis_stride, const std::int64_t* index, T* y) {
  const auto [y_step, x_step, index_step] = nest.inner_strides();
  nest.for_all_runs([&, x_step = x_step, index_step = index_step](std::int64_t n, const auto& at) {
    T* to = y + at[0];
    const T* from = x + at[1];
    const std::int64_t* position = index + at[2];
    if (index_step != 0) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * x_step + position[i * index_step] * axis_stride];
      return;
    }
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
    BURN_TRY(const Array index, checked_index(run, operands[1], x.shape()[axis]));
    ir::Dims x_strides = x.strides();
    x_strides[axis] = 0;
    const Nest nest(y.shape(), {&y.strides(), &x_strides, &index.strides()});
    const auto axis_stride = x.strides()[axis];
    const auto* positions = index.as<std::int64_t>();
    switch (ir::size_of(type.dtype)) {
      case 1:
        gather(nest, x.as<std::uint8_t>(), axis_stride, positions, y.as<std::uint8_t>());
        break;
      case 2:
        gather(nest, x.as<std::uint16_t>(), axis_stride, positions, y.as<std::uint16_t>());
        break;
      case 4:
        gather(nest, x.as<std::uint32_t>(), axis_stride, positions, y.as<std::uint32_t>());
        break;
      default:
        gather(nest, x.as<std::uint64_t>(), axis_stride, positions, y.as<std::uint64_t>());
    }
    return y;
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
