// Ops that return another view of the same elements: no copies, except for a reshape of a strided view that needs one.
#include "backends/cpu/kernels/copy.h"

namespace burn::backends::cpu::kernels {

Result<Kernel> prepare(const ir::Reshape& op, const Signature&) {
  return Kernel([shape = op.shape](Run& run, std::span<Array> operands) -> Result<Array> {
    if (auto view = operands[0].reshaped(shape)) return *std::move(view);
    BURN_TRY(const Array x, contiguous(run, operands[0]));
    return *x.reshaped(shape);
  });
}

Result<Kernel> prepare(const ir::Permute& op, const Signature&) {
  return Kernel(
      [axes = op.axes](Run&, std::span<Array> operands) -> Result<Array> { return operands[0].permuted(axes); });
}

Result<Kernel> prepare(const ir::Expand& op, const Signature&) {
  return Kernel(
      [shape = op.shape](Run&, std::span<Array> operands) -> Result<Array> { return operands[0].expanded(shape); });
}

Result<Kernel> prepare(const ir::Slice& op, const Signature&) {
  return Kernel([op](Run&, std::span<Array> operands) -> Result<Array> {
    return operands[0].sliced(op.starts, op.sizes, op.steps);
  });
}

Result<Kernel> prepare(const ir::Place&, const Signature&) {
  return Kernel([](Run&, std::span<Array> operands) -> Result<Array> { return operands[0]; });
}

}  // namespace burn::backends::cpu::kernels
