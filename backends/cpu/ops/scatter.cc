#include "backends/cpu/loops.h"
#include "backends/cpu/ops/cast.h"
#include "backends/cpu/ops/combine.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/index.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

struct Assign {
  template <typename T>
  static T combine(T, T b) {
    return b;
  }
};

// The axis apart, and the nest of all other dims: 0: result, 1: index, 2: values.
struct Layout {
  LoopNest<3> nest;
  std::int64_t size;                                        // of the axis of the index
  std::int64_t result_stride, index_stride, values_stride;  // along the axis
};

Layout make_layout(const Array& y, const Array& index, const Array& values, int axis) {
  ir::Shape shape = values.shape();
  ir::Dims of_y = y.strides(), of_index = index.strides(), of_values = values.strides();
  for (auto* dims : {&shape, &of_y, &of_index, &of_values}) dims->erase(axis);
  return {LoopNest<3>(shape, {&of_y, &of_index, &of_values}), values.shape()[axis], y.strides()[axis],
          index.strides()[axis], values.strides()[axis]};
}

template <typename Op, typename T>
[[gnu::always_inline]] inline void update(T& target, T value) {
  using Compute = ir::compute_t<T>;
  target = static_cast<T>(Op::combine(static_cast<Compute>(target), static_cast<Compute>(value)));
}

// Every line along the axis belongs to one thread, which walks it from the front: duplicates meet in order.
template <typename Op, typename T>
void scatter(const Layout& layout, const std::int64_t* index, const T* values, T* y) {
  const auto [y_step, index_step, values_step] = layout.nest.inner_strides();
  const auto grain = kGrain / (layout.size + 1) + 1;
  layout.nest.for_all_runs(
      [&, y_step = y_step, index_step = index_step, values_step = values_step](std::int64_t n, const auto& at) {
        const bool by_rows = y_step == 1 && n > 1;
        for (std::int64_t k = 0; k < (by_rows ? 1 : n); ++k) {
          for (std::int64_t i = 0; i < layout.size; ++i) {
            const std::int64_t* position = index + at[1] + k * index_step + i * layout.index_stride;
            const T* from = values + at[2] + k * values_step + i * layout.values_stride;
            T* to = y + at[0] + k * y_step;
            if (!by_rows) {
              update<Op>(to[*position * layout.result_stride], *from);
            } else if (index_step == 0 && values_step == 1) {
              to += *position * layout.result_stride;
              for (std::int64_t c = 0; c < n; ++c) update<Op>(to[c], from[c]);
            } else {
              for (std::int64_t c = 0; c < n; ++c) {
                update<Op>(to[c + position[c * index_step] * layout.result_stride], from[c * values_step]);
              }
            }
          }
        }
      },
      grain);
}

template <typename T>
void scatter(ir::ScatterFn fn, const Layout& layout, const Array& index, const Array& values, Array& y) {
  const auto with = [&]<typename Op>() { scatter<Op>(layout, index.as<std::int64_t>(), values.as<T>(), y.as<T>()); };
  switch (fn) {
    case ir::ScatterFn::assign:
      return with.template operator()<Assign>();
    case ir::ScatterFn::add:
      return with.template operator()<Sum>();
    case ir::ScatterFn::mul:
      return with.template operator()<Prod>();
    case ir::ScatterFn::max:
      return with.template operator()<Max>();
    case ir::ScatterFn::min:
      return with.template operator()<Min>();
  }
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Scatter& op, const Signature&) {
  return Kernel([axis = static_cast<int>(op.axis), fn = op.fn](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(const Array index, checked_index(run, operands[1], operands[0].shape()[axis]));
    // Of 16-bit floats many small numbers would not add up: they do in f32, rounded at the end.
    const auto dtype = operands[0].dtype();
    const bool accumulates = fn == ir::ScatterFn::add || fn == ir::ScatterFn::mul;
    const auto held = accumulates ? ir::compute_dtype(dtype) : dtype;
    if (held != dtype) {
      BURN_TRY(operands[0], cast(run, operands[0], held));
    }
    BURN_TRY(Array y, writable(run, operands[0]));
    BURN_TRY(const Array values, cast(run, operands[2], held));
    const auto layout = make_layout(y, index, values, axis);
    ir::dispatch(y.dtype(), [&]<typename T>() {
      if constexpr (std::is_same_v<T, bool>)
        scatter<std::uint8_t>(fn, layout, index, values, y);
      else
        scatter<T>(fn, layout, index, values, y);
    });
    return cast(run, y, dtype);
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
