#include "backends/cpu/kernels/cast.h"

#include <bit>
#include <concepts>
#include <limits>
#include <type_traits>

#include "backends/cpu/runtime/loops.h"
#include "ir/dispatch.h"
#include "ir/semantics/convert.h"

namespace burn::backends::cpu {
namespace {

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

template <typename T>
constexpr bool kIs16BitFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/simd/cast_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {
namespace {

void cast_into(const Array& x, Array& y) {
  const auto loop = cast_loop(x.dtype(), y.dtype());
  const auto from_size = static_cast<std::int64_t>(ir::size_of(x.dtype()));
  const auto to_size = static_cast<std::int64_t>(ir::size_of(y.dtype()));
  const LoopNest<2> nest(x.shape(), {&y.strides(), &x.strides()});
  const auto stride = nest.inner_strides()[1];
  nest.for_all_runs([&](std::int64_t n, const auto& at) {
    loop(n, y.data() + at[0] * to_size, x.data() + at[1] * from_size, stride);
  });
}

}  // namespace

CastLoop cast_loop(ir::DType from, ir::DType to) { return BURN_BEST(find_cast)(from, to); }

Result<Array> cast(Run& run, const Array& x, ir::DType dtype) {
  if (x.dtype() == dtype) return x;
  BURN_TRY(auto y, run.allocate({dtype, x.shape()}));
  cast_into(x, y);
  return y;
}

namespace kernels {

Result<Kernel> prepare(const ir::Cast& op, const Signature&) {
  return Kernel([dtype = op.dtype](Run& run, std::span<Array> operands) -> Result<Array> {
    Array& x = operands[0];
    if (x.dtype() != dtype && ir::size_of(x.dtype()) == ir::size_of(dtype) && may_overwrite(operands, 0)) {
      Array y({dtype, x.shape()}, x.buffer());
      cast_into(x, y);
      return y;
    }
    return cast(run, x, dtype);
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
