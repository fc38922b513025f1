// Ops that the members of a group perform together.
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu::kernels {

Result<Kernel> prepare(const ir::AllReduce& op, const Signature&) { return unimplemented(std::string{op.kName}); }
Result<Kernel> prepare(const ir::ReduceScatter& op, const Signature&) { return unimplemented(std::string{op.kName}); }
Result<Kernel> prepare(const ir::AllGather& op, const Signature&) { return unimplemented(std::string{op.kName}); }
Result<Kernel> prepare(const ir::AllToAll& op, const Signature&) { return unimplemented(std::string{op.kName}); }

}  // namespace burn::backends::cpu::kernels
