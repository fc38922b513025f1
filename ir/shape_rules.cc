#include "ir/shape_rules.h"

#include <algorithm>

namespace burn::ir {
namespace shape_rules {

std::string types_text(Operands in) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(in.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + to_string(*in[i]);
  }
  return in.size() > kShown ? text + ", ..." : text;
}

Status wrong_operand_count(std::string_view op, Operands in, std::size_t count) {
  return fail("{}: takes {} operand{}, got {}", op, count, count == 1 ? "" : "s", in.size());
}

Status check_axis(std::string_view op, std::int64_t axis, const TensorType& x) {
  if (axis >= 0 && axis < x.shape.rank()) return {};
  return fail("{}: axis {} is out of range for {}", op, axis, to_string(x));
}

Result<TensorType> checked(std::string_view op, DType dtype, const Shape& shape) {
  if (checked_num_elements(shape)) return TensorType{dtype, shape};
  return fail("{}: {} is no shape: a size is negative or there are too many elements", op, to_string(shape));
}

}  // namespace shape_rules

Result<TypeList> infer(const Op& op, std::span<const TensorType* const> operands) {
  return std::visit(
      [&](const auto& kind) -> Result<TypeList> {
        // Qualified: without a rule, an unqualified call would compile as a recursive call of this function.
        auto inferred = shape_rules::infer(kind, operands);
        if constexpr (result_count<std::remove_cvref_t<decltype(kind)>>() == 1) {
          if (!inferred.ok()) return inferred.status();
          return shape_rules::types_of(*inferred);
        } else {
          return inferred;
        }
      },
      op);
}

}  // namespace burn::ir
