#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/combine.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/index.h"
#include "backends/cpu/runtime/loops.h"
#include "backends/interrupt.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

struct Assign {
  template <typename T>
  static T combine(T, T b) {
    return b;
  }
};

// The axis, and the nest of all other dims: 0: result, 1: index, 2: values.
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

// Every line along the axis belongs to one thread, which walks it from the front: duplicates are combined in order.
template <typename Op, typename T>
void scatter(const Layout& layout, const std::int64_t* index, const T* values, T* y) {
  const auto [y_step, index_step, values_step] = layout.nest.inner_strides();
  const auto grain = kGrain / (layout.size + 1) + 1;
  layout.nest.for_all_runs(
      [&, y_step = y_step, index_step = index_step, values_step = values_step](std::int64_t n, const auto& at) {
        const bool by_rows = y_step == 1 && n > 1;
        InterruptMeter meter;
        for (std::int64_t k = 0; k < (by_rows ? 1 : n); ++k) {
          for (std::int64_t i = 0; i < layout.size; ++i) {
            meter.add(by_rows ? n : 1);
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

// Calls body with the type of the function: body.template operator()<Op>().
template <typename Body>
void with_combination(ir::ScatterFn fn, const Body& body) {
  switch (fn) {
    case ir::ScatterFn::assign:
      return body.template operator()<Assign>();
    case ir::ScatterFn::add:
      return body.template operator()<Sum>();
    case ir::ScatterFn::mul:
      return body.template operator()<Prod>();
    case ir::ScatterFn::max:
      return body.template operator()<Max>();
    case ir::ScatterFn::min:
      return body.template operator()<Min>();
  }
}

std::int64_t rows_of(const Array& x) {
  std::int64_t rows = 1;
  for (int i = 0; i < x.rank() - 1; ++i) rows *= x.shape()[i];
  return rows;
}

// Whether scatter_rows() supports it: enough rows for all threads, each without gaps.
bool scatters_by_rows(const Array& x, const Array& index, const Array& values, int axis) {
  constexpr std::int64_t kMinRows = 16;
  return axis == x.rank() - 1 && x.is_contiguous() && values.is_contiguous() && UncheckedIndex::takes(index) &&
         rows_of(x) >= kMinRows;
}

// Row by row: x is copied if it may not be overwritten, its index checked and its values combined, all while the row is
// in the nearest cache.
template <typename Op, typename T>
void scatter_rows(const Array& x, const Array& index, const Array& values, UncheckedIndex& unchecked, Array& y) {
  const auto size = x.shape().back(), count = index.shape().back();
  const bool copies = x.data() != y.data();
  const auto* from = x.as<T>();
  T* to = y.as<T>();
  parallel_for(rows_of(x), kGrain / (size + count + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      T* target = to + row * size;
      if (copies) std::copy_n(from + row * size, size, target);
      const auto* position = index.as<std::int64_t>() + row * count;
      const T* value = values.as<T>() + row * count;
      unchecked.each_block(count, position, [&](std::int64_t first, std::int64_t n) {
        for (auto i = first; i < first + n; ++i) update<Op>(target[position[i]], value[i]);
      });
    }
  });
}

template <typename T>
struct StoredAs {
  using type = T;
};
template <>
struct StoredAs<bool> {
  using type = std::uint8_t;
};

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Scatter& op, const Signature&) {
  return Kernel([axis = static_cast<int>(op.axis), fn = op.fn](Run& run, std::span<Array> operands) -> Result<Array> {
    // Many small 16-bit floats would not add up in 16 bits: they are combined in f32 and rounded at the end.
    const auto dtype = operands[0].dtype();
    if (operands[2].num_elements() == 0) return operands[0];  // of however many lines that are empty
    const bool accumulates = fn == ir::ScatterFn::add || fn == ir::ScatterFn::mul;
    const auto held = accumulates ? ir::compute_dtype(dtype) : dtype;
    if (held != dtype) {
      BURN_TRY(operands[0], cast(run, operands[0], held));
    }
    BURN_TRY(const Array values, cast(run, operands[2], held));
    if (scatters_by_rows(operands[0], operands[1], values, axis)) {
      const Array& x = operands[0];
      Array y = x;
      if (!may_overwrite(x)) {
        BURN_TRY(y, run.allocate(x.type()));
      }
      UncheckedIndex unchecked(x.shape().back());
      ir::dispatch(held, [&]<typename T>() {
        with_combination(fn, [&]<typename Op>() {
          scatter_rows<Op, same_bits_t<Op, typename StoredAs<T>::type>>(x, operands[1], values, unchecked, y);
        });
      });
      if (unchecked.has_failed()) return checked_index(run, operands[1], x.shape().back()).status();
      return cast(run, y, dtype);
    }
    BURN_TRY(const Array index, checked_index(run, operands[1], operands[0].shape()[axis]));
    BURN_TRY(Array y, writable(run, operands[0]));
    const auto layout = make_layout(y, index, values, axis);
    ir::dispatch(held, [&]<typename T>() {
      with_combination(fn, [&]<typename Op>() {
        using Stored = same_bits_t<Op, typename StoredAs<T>::type>;
        scatter<Op>(layout, index.as<std::int64_t>(), values.as<Stored>(), y.as<Stored>());
      });
    });
    return cast(run, y, dtype);
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
