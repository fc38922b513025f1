#include "compile/fusion/grouping.h"

#include "ir/random_box.h"

namespace burn::compile {

bool is_elementwise(const ir::Op& op) {
  if (const auto* random = std::get_if<ir::Random>(&op))
    return random->dtype == ir::DType::f32 && ir::first_position(*random);
  return std::holds_alternative<ir::Pointwise>(op) || std::holds_alternative<ir::Cast>(op);
}

std::optional<std::int64_t> trailing_size(const ir::Shape& shape, const ir::Dims& axes) {
  std::int64_t size = 1;
  bool is_inside = true;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (axes.contains(i)) {
      if (!is_inside) return std::nullopt;
      size *= shape[i];
    } else {
      is_inside = false;
    }
  }
  return size;
}

}  // namespace burn::compile
