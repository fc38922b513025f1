// A module of SPIR-V while its kernel is printed.
#pragma once

#include <vector>

#include "compile/codegen/dialects/spirv_module.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::spirv {

struct SpirvState {
  const kernel::Kernel& kernel;
  Module module = {};
  std::vector<Id> ids = {};         // of the kernel's values
  std::vector<Id> parameters = {};  // addresses and numbers

  const kernel::Instruction& made(std::int32_t value) const { return kernel.body[static_cast<std::size_t>(value)]; }
  Id id_of(std::int32_t value) const { return ids[static_cast<std::size_t>(value)]; }
  Id u32(std::uint32_t number) { return module.constant(ir::DType::u32, number); }
};

}  // namespace burn::compile::spirv
