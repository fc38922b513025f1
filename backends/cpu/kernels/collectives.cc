// Ops that the members of a group perform together: on the thread of the run, which waits for the others.
#include <fmt/format.h>

#include "backends/collective/collective.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu::kernels {
namespace {

// Whatever is missing here, the other members wait for this one: it takes part, and says so.
template <typename Kind>
Kernel collective(const Kind& op, const Signature& signature) {
  constexpr bool kInPlace = std::is_same_v<Kind, ir::AllReduce>;
  return Kernel([op = ir::Op(op), group = op.group, type = *signature.operands[0], result = signature.result](
                    Run& run, std::span<Array> operands) -> Result<Array> {
    const auto member = run.groups ? run.groups->find(group) : nullptr;
    if (!member) return failed_precondition(fmt::format("this session is in no group {}", group));
    Array x, y;
    const auto prepare_arrays = [&]() -> Status {
      if (run.failed) return *run.failed;
      BURN_TRY(x, contiguous(run, operands[0]));
      operands[0] = Array();
      if (kInPlace && may_overwrite(x)) {
        y = x;
        return {};
      }
      BURN_TRY(y, run.allocate(result));
      return {};
    };
    if (auto missing = prepare_arrays(); !missing.ok()) {
      const auto status = member->perform({op, type, {}, {}, std::make_shared<const Status>(std::move(missing))});
      return status.ok() ? internal_error("a member without an operand has a result") : status;
    }
    BURN_RETURN_IF_ERROR(member->perform({op, type, {x.data(), x.num_bytes()}, {y.data(), y.num_bytes()}}));
    return y;
  });
}

}  // namespace

Result<Kernel> prepare(const ir::AllReduce& op, const Signature& signature) { return collective(op, signature); }
Result<Kernel> prepare(const ir::ReduceScatter& op, const Signature& signature) { return collective(op, signature); }
Result<Kernel> prepare(const ir::AllGather& op, const Signature& signature) { return collective(op, signature); }
Result<Kernel> prepare(const ir::AllToAll& op, const Signature& signature) { return collective(op, signature); }

}  // namespace burn::backends::cpu::kernels
