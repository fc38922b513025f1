#include "ir/ops/commit.h"

#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {

Result<TensorType> infer(const Commit& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 0));
  return TensorType{DType::bool_, {}};
}

}  // namespace burn::ir::shape_rules
