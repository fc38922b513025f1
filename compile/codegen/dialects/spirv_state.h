// A module of SPIR-V while its kernel is printed.
#pragma once

#include <utility>
#include <vector>

#include "compile/codegen/dialects/spirv_module.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::spirv {

struct SpirvState {
  const kernel::Kernel& kernel;
  Module module = {};
  std::vector<Id> ids = {};  // of the kernel's values
  bool has_int64 = true;
  // Of the argument record: words of 64 bits; or their halves, lower ones first, where the device has only these.
  std::vector<Id> parameters = {};
  std::vector<std::pair<Id, Id>> halves = {};

  const kernel::Instruction& made(std::int32_t value) const { return kernel.body[static_cast<std::size_t>(value)]; }
  Id id_of(std::int32_t value) const { return ids[static_cast<std::size_t>(value)]; }
  // The lower or upper half of a parameter's word.
  Id half(std::size_t parameter, bool is_upper) {
    if (!has_int64) return is_upper ? halves[parameter].second : halves[parameter].first;
    Id word = parameters[parameter];
    if (is_upper)
      word =
          module.make(Op::ShiftRightLogical, module.type(ir::DType::u64), {word, module.constant(ir::DType::u64, 32)});
    return module.make(Op::UConvert, module.type(ir::DType::u32), {word});
  }
  // The same bits as another type; whole numbers of one size have one type in SPIR-V.
  Id same_bits(ir::DType to, ir::DType from, Id value) {
    if (!ir::is_floating(to) && !ir::is_floating(from)) return value;
    return module.make(Op::Bitcast, module.type(to), {value});
  }
  Id u32(std::uint32_t number) { return module.constant(ir::DType::u32, number); }
};

}  // namespace burn::compile::spirv
