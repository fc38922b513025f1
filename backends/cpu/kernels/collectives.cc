// Ops that the members of a group perform together. Plans have them as steps of their own (backends/cpu/execution.h);
// with these kernels the thread of the run performs one and waits for the other members.
#include "backends/cpu/kernels/collective_work.h"

namespace burn::backends::cpu::kernels {
namespace {

template <typename Kind>
Kernel collective(const Kind& op, const Signature& signature) {
  return Kernel([node = CollectiveNode{op, op.group, *signature.operands[0], signature.result}](
                    Run& run, std::span<Array> operands) -> Result<Array> {
    const Failure none;
    BURN_TRY(const auto work, CollectiveWork::make(run, {&node, 1}, operands, {&none, 1}));
    work->perform();
    return work->take(0);
  });
}

}  // namespace

Result<Kernel> prepare(const ir::AllReduce& op, const Signature& signature) { return collective(op, signature); }
Result<Kernel> prepare(const ir::ReduceScatter& op, const Signature& signature) { return collective(op, signature); }
Result<Kernel> prepare(const ir::AllGather& op, const Signature& signature) { return collective(op, signature); }
Result<Kernel> prepare(const ir::AllToAll& op, const Signature& signature) { return collective(op, signature); }

}  // namespace burn::backends::cpu::kernels
