// Ops that put parts together: each part is copied into a view of the result.
#include "backends/cpu/kernels/copy.h"

namespace burn::backends::cpu::kernels {

Result<Kernel> prepare(const ir::SliceAssign& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array> operands) -> Result<Array> {
    const Array& values = operands[1];
    BURN_TRY(Array y, writable(run, operands[0]));
    Array part = y.sliced(op.starts, values.shape(), op.steps);
    copy(values, part);
    return y;
  });
}

Result<Kernel> prepare(const ir::Concat& op, const Signature& signature) {
  return Kernel([axis = static_cast<int>(op.axis), type = signature.result](
                    Run& run, std::span<Array> operands) -> Result<Array> {
    BURN_TRY(Array y, run.allocate(type));
    ir::Dims starts = ir::Dims::filled(y.rank(), 0);
    const ir::Dims steps = ir::Dims::filled(y.rank(), 1);
    for (const Array& x : operands) {
      Array part = y.sliced(starts, x.shape(), steps);
      copy(x, part);
      starts[axis] += x.shape()[axis];
    }
    return y;
  });
}

}  // namespace burn::backends::cpu::kernels
