#include <algorithm>

#include "backends/cpu/ops/cast.h"
#include "backends/cpu/ops/combine.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lines.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

// Long sums of f32 run in double.
template <typename Op, typename T>
using Running = std::conditional_t<Op::kWidens && std::is_same_v<T, float>, double, T>;

template <typename Op, typename T>
void scan_line(std::int64_t n, std::int64_t step, const T* x, T* y) {
  Running<Op, T> total = x[0];
  y[0] = x[0];
  for (std::int64_t i = 1; i < n; ++i) {
    total = Op::combine(total, static_cast<Running<Op, T>>(x[i * step]));
    y[i * step] = static_cast<T>(total);
  }
}

// Columns side by side, so that memory is read in order.
template <typename Op, typename T>
void scan_columns(const Lines& lines, std::int64_t first_line, std::int64_t columns, const T* x, T* y) {
  constexpr std::int64_t kMaxColumns = 256;
  Running<Op, T> totals[kMaxColumns];
  for (std::int64_t done = 0; done < columns; done += kMaxColumns) {
    const auto start = lines.start(first_line + done), width = std::min(kMaxColumns, columns - done);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const T* row = x + start + i * lines.inner;
      T* out = y + start + i * lines.inner;
      for (std::int64_t c = 0; c < width; ++c) {
        totals[c] = i == 0 ? Running<Op, T>(row[c]) : Op::combine(totals[c], static_cast<Running<Op, T>>(row[c]));
        out[c] = static_cast<T>(totals[c]);
      }
    }
  }
}

template <typename Op, typename T>
void scan(const Lines& lines, const T* x, T* y) {
  if (lines.inner == 1) {
    lines.for_each([&](std::int64_t k) { scan_line<Op>(lines.size, 1, x + lines.start(k), y + lines.start(k)); });
    return;
  }
  parallel_for(lines.count(), kGrain / lines.size + 1, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const auto columns = std::min(end - begin, lines.inner - begin % lines.inner);
      scan_columns<Op>(lines, begin, columns, x, y);
      begin += columns;
    }
  });
}

template <typename T>
void scan(ir::ReduceFn fn, const Lines& lines, const T* x, T* y) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return scan<Sum>(lines, x, y);
    case ir::ReduceFn::prod:
      return scan<Prod>(lines, x, y);
    case ir::ReduceFn::max:
      return scan<Max>(lines, x, y);
    case ir::ReduceFn::min:
      return scan<Min>(lines, x, y);
  }
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Scan& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(const Array row_major, contiguous(run, operands[0]));
    BURN_TRY(const Array x, cast(run, row_major, compute_dtype(row_major.dtype())));
    BURN_TRY(Array y, run.allocate(x.type()));
    if (x.num_elements() == 0) return cast(run, y, operands[0].dtype());
    const Lines lines(x.shape(), op.axis);
    ir::dispatch(x.dtype(), [&]<typename T>() {
      if constexpr (std::is_same_v<T, bool>)
        scan(op.fn, lines, x.as<std::uint8_t>(), y.as<std::uint8_t>());
      else if constexpr (std::is_arithmetic_v<T>)
        scan(op.fn, lines, x.as<T>(), y.as<T>());
    });
    return cast(run, y, operands[0].dtype());
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
