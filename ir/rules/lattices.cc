#include "ir/ops/lattices.h"

#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {

Result<TensorType> infer(const BandedScan& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 2));
  const auto &b = *in[0], &w = *in[1];
  if (b.dtype != w.dtype || (b.dtype != DType::f32 && b.dtype != DType::f64)) {
    return fail("{}: takes f32 or f64, both the same, got {}", op.kName, types_text(in));
  }
  const bool fits = b.shape.rank() == 3 && w.shape.rank() == 4 && w.shape[0] == b.shape[0] &&
                    w.shape[1] == b.shape[1] && w.shape[3] == b.shape[2];
  if (!fits) return fail("{}: {} are not [n, rows, width] and [n, rows, band, width]", op.kName, types_text(in));
  return checked(op.kName, b.dtype, b.shape);
}

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

std::string_view text(const BandedScan&) { return "n !..., n !... -> n !..."; }
Factors factors(const BandedScan& op, Types operands, Types results) {
  if (op.semiring == Semiring::log) return read(text(op), operands, results);
  return read(text(op), operands, results, {linear_in({0})});
}

}  // namespace burn::ir::factor_rules
