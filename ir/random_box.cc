#include "ir/random_box.h"

namespace burn::ir {

std::optional<std::int64_t> first_position(const Random& op) {
  if (op.whole.empty()) return 0;
  const Dims strides = contiguous_strides(op.whole);
  std::int64_t position = 0;
  bool is_one = true;  // all dims so far have one element of the box
  for (int i = 0; i < op.whole.rank(); ++i) {
    position += op.starts[i] * strides[i];
    if (!is_one && op.shape[i] != op.whole[i]) return std::nullopt;
    is_one = is_one && op.shape[i] == 1;
  }
  return position;
}

}  // namespace burn::ir
