#include "autodiff/rules.h"

#include "autodiff/rule_list.h"

namespace burn::autodiff {

OperandGradients gradients(const ir::Op& op, const TapedOp& step) {
  return std::visit([&](const auto& kind) { return grad_rules::rule(kind, step); }, op);  // qualified on purpose
}

}  // namespace burn::autodiff
