// The index of an extreme element along an axis.

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/combine.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/lines.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu {
namespace {

// Row-major, in a type that can be compared.
Result<Array> comparable(Run& run, const Array& x) {
  BURN_TRY(const Array row_major, contiguous(run, x));
  return cast(run, row_major, compute_dtype(x.dtype()));
}

template <typename Body>
void dispatch_comparable(ir::DType dtype, const Body& body) {
  ir::dispatch(dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>)
      body.template operator()<std::uint8_t>();
    else if constexpr (std::is_arithmetic_v<T>)
      body.template operator()<T>();
  });
}

template <ir::ArgFn kFn, typename T>
bool beats(T challenger, T best) {
  if (is_nan(best)) return false;  // the first NaN wins
  if (is_nan(challenger)) return true;
  return kFn == ir::ArgFn::max ? challenger > best : challenger < best;
}

template <ir::ArgFn kFn, typename T>
void arg_extremes(const Lines& lines, const T* x, std::int64_t* index) {
  lines.for_each([&](std::int64_t k) {
    const T* line = x + lines.start(k);
    std::int64_t best = 0;
    T value = line[0];
    for (std::int64_t i = 1; i < lines.size; ++i) {
      const T candidate = line[i * lines.inner];
      if (!beats<kFn>(candidate, value)) continue;
      best = i;
      value = candidate;
    }
    index[k] = best;
  });
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::ArgReduce& op, const Signature& signature) {
  return Kernel([op, type = signature.result](Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(const Array x, comparable(run, operands[0]));
    BURN_TRY(Array y, run.allocate(type));
    const Lines lines(x.shape(), op.axis);
    dispatch_comparable(x.dtype(), [&]<typename T>() {
      if (op.fn == ir::ArgFn::max)
        arg_extremes<ir::ArgFn::max>(lines, x.as<T>(), y.as<std::int64_t>());
      else
        arg_extremes<ir::ArgFn::min>(lines, x.as<T>(), y.as<std::int64_t>());
    });
    return y;
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
