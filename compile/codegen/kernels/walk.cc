#include "compile/codegen/kernels/walk.h"

namespace burn::compile::kernels {

using kernel::Value;

std::vector<Value> offsets_in(Arguments& arguments, const LoopDims& walk, Value position) {
  std::vector<Value> places(walk.sizes.size());
  for (std::size_t d = walk.sizes.size(); d-- > 1;) {
    const Value size = arguments.number(walk.sizes[d]), before = position / size;
    places[d] = position - before * size;
    position = before;
  }
  places[0] = position;
  std::vector<Value> offsets;
  for (const auto& strides : walk.strides) {
    Value offset = arguments.constant(0);
    for (std::size_t d = 0; d < strides.size(); ++d) {
      if (strides[d] == 0) continue;
      offset = offset + (strides[d] == 1 ? places[d] : places[d] * arguments.number(strides[d]));
    }
    offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace burn::compile::kernels
