#include "compile/codegen/emitter.h"

#include "compile/codegen/target.h"

namespace burn::compile {

DeviceAddress Bindings::at(const Address& address) const {
  const auto offset = static_cast<DeviceAddress>(address.offset);
  const auto index = static_cast<std::size_t>(address.index);
  switch (address.base) {
    case Address::Base::input:
      return inputs[index] + offset;
    case Address::Base::output:
      return outputs[index] + offset;
    case Address::Base::block:
      return arena + static_cast<DeviceAddress>(blocks[index]) + offset;
    case Address::Base::bindings:
      return this->bindings + offset;
    case Address::Base::failures:
      return failures + offset;
    case Address::Base::none:
      break;
  }
  return 0;
}

View Emitter::scratch_value(const ir::TensorType& type) {
  return {scratch(type.num_bytes()), type.dtype, type.shape, ir::contiguous_strides(type.shape)};
}

View Emitter::contiguous(const View& view) {
  if (view.is_contiguous()) return view;
  const auto whole = scratch_value({view.dtype, view.shape});
  copy(view, whole);
  return whole;
}

void Emitter::copy(const View& from, const View& to) { target().copy(*this, from, to); }

}  // namespace burn::compile
