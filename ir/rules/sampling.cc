#include "ir/ops/sampling.h"

#include <limits>

#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

// [n, c, from...] -> [n, c, sizes...], either of which may be the input of the forward op.
Result<TensorType> resized(std::string_view op, Operands in, const Dims& sizes) {
  BURN_RETURN_IF_ERROR(check_operands(op, in, 1));
  TensorType type = *in[0];
  if (!is_floating(type.dtype)) return fail("{}: takes floats, got {}", op, to_string(type));
  if (sizes.rank() < 1 || sizes.rank() > 2 || type.shape.rank() != sizes.rank() + 2) {
    return fail("{}: {} is not [batch, channel, ...] with the {} spatial dims of {}, which may be 1 or 2", op,
                to_string(type), sizes.rank(), to_string(sizes));
  }
  for (int i = 0; i < sizes.rank(); ++i) {
    constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
    const auto from = type.shape[i + 2];
    if (from < 1 || from > kMaxSize || sizes[i] < 1 || sizes[i] > kMaxSize) {
      return fail("{}: cannot go from size {} to {} in spatial dim {}", op, from, sizes[i], i);
    }
    type.shape[i + 2] = sizes[i];
  }
  return checked(op, type.dtype, type.shape);
}

}  // namespace

Result<TensorType> infer(const Interpolate& op, Operands in) { return resized(op.kName, in, op.output_size); }

Result<TensorType> infer(const InterpolateGrad& op, Operands in) { return resized(op.kName, in, op.input_size); }

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

std::string_view text(const Interpolate&) { return "n c !... -> n c !..."; }
Factors factors(const Interpolate& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0})});
}

std::string_view text(const InterpolateGrad&) { return "n c !... -> n c !..."; }
Factors factors(const InterpolateGrad& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0})});
}

}  // namespace burn::ir::factor_rules
