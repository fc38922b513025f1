#include "ir/ops/commit.h"

#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {

Result<TensorType> infer(const Commit& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 0));
  return TensorType{DType::bool_, {}};
}

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

Factors factors(const Commit&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const Commit&) { return "->"; }

}  // namespace burn::ir::factor_rules
