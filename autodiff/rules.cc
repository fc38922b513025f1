#include "autodiff/rules.h"

#include "autodiff/rule_list.h"

namespace burn::autodiff {

OperandGradients gradients(const ir::Op& op, const TapedOp& step) {
  return std::visit(
      [&]<typename Kind>(const Kind& kind) {
        if constexpr (ir::IsFlat<Kind>)
          return flat(step);
        else
          return grad_rules::rule(kind, step);  // qualified on purpose
      },
      op);
}

}  // namespace burn::autodiff
