#include "ir/ops/linalg.h"

#include <algorithm>

#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

Status check_matrices(std::string_view op, const TensorType& x) {
  if (x.dtype != DType::f32 && x.dtype != DType::f64) return fail("{}: takes f32 or f64, got {}", op, to_string(x));
  if (x.shape.rank() < 2) return fail("{}: takes matrices, got {}", op, to_string(x));
  return {};
}

Status check_square(std::string_view op, const TensorType& x) {
  BURN_RETURN_IF_ERROR(check_matrices(op, x));
  const int last = x.shape.rank() - 1;
  if (x.shape[last - 1] != x.shape[last]) return fail("{}: takes square matrices, got {}", op, to_string(x));
  return {};
}

std::int64_t rows(const TensorType& x) { return x.shape[x.shape.rank() - 2]; }
std::int64_t columns(const TensorType& x) { return x.shape.back(); }

Shape batch_of(const TensorType& x) {
  return Shape(x.shape.span().first(static_cast<std::size_t>(x.shape.rank() - 2)));
}

// [..., sizes...]
Result<TensorType> with(std::string_view op, const TensorType& x, std::initializer_list<std::int64_t> sizes) {
  Shape shape = batch_of(x);
  for (const auto size : sizes) shape.push_back(size);
  return checked(op, x.dtype, shape);
}

Result<TensorType> system_of_equations(std::string_view op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op, in, 2));
  const auto &a = *in[0], &b = *in[1];
  BURN_RETURN_IF_ERROR(check_square(op, a));
  if (a.dtype != b.dtype) return fail("{}: dtypes differ: {}, {}", op, to_string(a), to_string(b));
  if (b.shape.rank() != a.shape.rank() || batch_of(a) != batch_of(b) || rows(a) != rows(b)) {
    return fail("{}: right-hand sides {} do not fit matrices {}", op, to_string(b), to_string(a));
  }
  return b;
}

}  // namespace

Result<TensorType> infer(const Cholesky& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_square(op.kName, *in[0]));
  return *in[0];
}

Result<TypeList> infer(const Lu& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_matrices(op.kName, x));
  BURN_TRY(auto permutation, with(op.kName, x, {rows(x)}));
  BURN_TRY(const auto sign, with(op.kName, x, {}));
  permutation.dtype = DType::i64;
  return types_of(x, permutation, sign);
}

Result<TypeList> infer(const Qr& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_matrices(op.kName, x));
  const auto k = op.reduced ? std::min(rows(x), columns(x)) : rows(x);
  BURN_TRY(const auto q, with(op.kName, x, {rows(x), k}));
  BURN_TRY(const auto r, with(op.kName, x, {k, columns(x)}));
  return types_of(q, r);
}

Result<TypeList> infer(const Svd& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_matrices(op.kName, x));
  const auto k = std::min(rows(x), columns(x));
  BURN_TRY(const auto u, with(op.kName, x, {rows(x), k}));
  BURN_TRY(const auto s, with(op.kName, x, {k}));
  BURN_TRY(const auto vt, with(op.kName, x, {k, columns(x)}));
  return types_of(u, s, vt);
}

Result<TypeList> infer(const Eigh& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_square(op.kName, x));
  BURN_TRY(const auto values, with(op.kName, x, {rows(x)}));
  return types_of(values, x);
}

Result<TensorType> infer(const Solve& op, Operands in) { return system_of_equations(op.kName, in); }

Result<TensorType> infer(const SolveTriangular& op, Operands in) { return system_of_equations(op.kName, in); }

Result<TensorType> infer(const Det& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_square(op.kName, *in[0]));
  return with(op.kName, *in[0], {});
}

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

std::string_view text(const Cholesky&) { return "... ! ! -> ... ! !"; }
Factors factors(const Cholesky& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const Lu&) { return "... ! ! -> ... ! !, ... !, ..."; }
Factors factors(const Lu& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const Qr&) { return "... ! ! -> ... ! !, ... ! !"; }
Factors factors(const Qr& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const Svd&) { return "... ! ! -> ... ! !, ... !, ... ! !"; }
Factors factors(const Svd& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const Eigh&) { return "... ! ! -> ... !, ... ! !"; }
Factors factors(const Eigh& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const Solve&) { return "... ! !, ... ! k -> ... ! k"; }
Factors factors(const Solve& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({1})});
}

std::string_view text(const SolveTriangular&) { return "... ! !, ... ! k -> ... ! k"; }
Factors factors(const SolveTriangular& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({1})});
}

std::string_view text(const Det&) { return "... ! ! -> ..."; }
Factors factors(const Det& op, Types operands, Types results) { return read(text(op), operands, results); }

}  // namespace burn::ir::factor_rules
