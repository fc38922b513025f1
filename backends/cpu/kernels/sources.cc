// Ops without operands: known numbers and counting.
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/run.h"
#include "ir/dispatch.h"

namespace burn::backends::cpu::kernels {

Result<Kernel> prepare(const ir::Constant& op, const Signature&) {
  return Kernel([number = Array::immediate(op.dtype, static_cast<std::uint64_t>(op.bits()))](
                    Run&, std::span<Array>) -> Result<Array> { return number; });
}

Result<Kernel> prepare(const ir::Scalar& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array>) -> Result<Array> {
    return Array::immediate(op.dtype, run.scalars[static_cast<std::size_t>(op.slot)]);
  });
}

// Always true here: the execution handles Commits that come out false.
Result<Kernel> prepare(const ir::Commit&, const Signature&) {
  return Kernel([](Run&, std::span<Array>) -> Result<Array> { return Array::immediate(ir::DType::bool_, 1); });
}

Result<Kernel> prepare(const ir::Iota&, const Signature& signature) {
  return Kernel([type = signature.result](Run& run, std::span<Array>) -> Result<Array> {
    BURN_TRY(Array y, run.allocate(type));
    ir::dispatch(type.dtype, [&]<typename T>() {
      T* out = y.as<T>();
      parallel_for(y.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(static_cast<ir::compute_t<T>>(i));
      });
    });
    return y;
  });
}

}  // namespace burn::backends::cpu::kernels
