#include "ir/ops/attention.h"

#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

// [..., rows, columns] with x's batch dims.
bool has_shape(const TensorType& x, const Shape& batch, std::int64_t rows, std::int64_t columns) {
  Shape wanted = batch;
  wanted[wanted.rank() - 2] = rows;
  wanted[wanted.rank() - 1] = columns;
  return x.shape == wanted;
}

struct Sizes {
  std::int64_t n, m, d, e;
};

TensorType statistics_of(const TensorType& q) {
  TensorType type{compute_dtype(q.dtype), q.shape};
  type.shape[type.shape.rank() - 1] = 1;
  return type;  // [..., n, 1]
}

// Checks q, k, v, then `results` more (both results and the gradient of the first one, or none), and the mask and the
// bias, which may be missing.
Result<Sizes> check_attention(std::string_view op, Operands in, std::size_t results) {
  const auto differ = [&](std::string_view what) { return fail("{}: {}: {}", op, what, types_text(in)); };
  const std::size_t required = 3 + results;
  if (in.size() < required || in.size() > required + 2) {
    return fail("{}: takes {} to {} operands, got {}", op, required, required + 2, in.size());
  }
  const TensorType &q = *in[0], &k = *in[1], &v = *in[2];
  if (!is_floating(q.dtype)) return differ("takes floats");
  const auto is_statistics = [&](std::size_t i) { return i == 4 && i < required; };
  const auto is_mask = [&](std::size_t i) { return i == required && is_bool(in[i]->dtype); };
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (in[i]->dtype != q.dtype && !is_statistics(i) && !is_mask(i))
      return differ("takes floats of one dtype, then a bool mask and a bias");
  }
  if (in.size() == required + 2 && !is_mask(required)) return differ("the mask comes before the bias");
  const int rank = q.shape.rank();
  if (rank < 2 || k.shape.rank() != rank || v.shape.rank() != rank) return differ("takes matrices of one rank");
  const Sizes s{q.shape[rank - 2], k.shape[rank - 2], q.shape[rank - 1], v.shape[rank - 1]};
  if (!has_shape(k, q.shape, s.m, s.d)) return differ("queries and keys do not fit");
  if (!has_shape(v, q.shape, s.m, s.e)) return differ("keys and values do not fit");
  for (std::size_t i = 3; i < required; ++i) {
    if (is_statistics(i) ? *in[i] != statistics_of(q) : !has_shape(*in[i], q.shape, s.n, s.e))
      return differ("a result or its gradient does not fit");
  }
  for (std::size_t i = required; i < in.size(); ++i) {
    if (!has_shape(*in[i], q.shape, s.n, s.m)) return differ("the mask or the bias has not the shape of the scores");
  }
  return s;
}

}  // namespace

Result<TypeList> infer(const Attention& op, Operands in) {
  BURN_TRY(const auto s, check_attention(op.kName, in, 0));
  Shape shape = in[0]->shape;
  shape[shape.rank() - 1] = s.e;
  BURN_TRY(const auto result, checked(op.kName, in[0]->dtype, shape));  // [..., n, e]
  const auto row = statistics_of(*in[0]);
  BURN_TRY(const auto statistics, checked(op.kName, row.dtype, row.shape));
  return types_of(result, statistics);
}

Result<TypeList> infer(const AttentionGrad& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_attention(op.kName, in, 3).status());
  return types_of(*in[0], *in[1], *in[2]);
}

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

// The mask of a causal op depends on the numbers of queries and keys, so that it cannot be split along them.
std::string_view text(const Attention& op) {
  return op.causal ? "... ! !, ... ! !, ... ! !, ... ! !, ... ! ! -> ... ! !, ... ! !"
                   : "... n !, ... ! !, ... ! !, ... n !, ... n ! -> ... n !, ... n !";
}
Factors factors(const Attention& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const AttentionGrad&) {
  return "... ! !, ... ! !, ... ! !, ... ! !, ... ! !, ... ! !, ... ! !, ... ! ! -> ... ! !, ... ! !, ... ! !";
}
Factors factors(const AttentionGrad& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({5})});
}

}  // namespace burn::ir::factor_rules
