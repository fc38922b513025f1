// A kernel as SPIR-V 1.6 for Vulkan 1.3.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile {

// The entry point is "main"; a block has kernel.threads x 1 x 1 invocations. The push constant is the address of the
// launch's argument record (kernel.h), eight bytes at offset 0. Memory is reached by addresses
// (PhysicalStorageBuffer64) under the Vulkan memory model. block(0) is WorkgroupId.x + WorkgroupId.z * NumWorkgroups.x,
// so that a grid may be folded at the device's limit; block(1) is WorkgroupId.y. Floats are computed as written: no
// operation is contracted, NaN, infinities and the sign of 0 are kept where the device can be told so.
std::vector<std::uint32_t> print_spirv(const kernel::Kernel& kernel, const DeviceFacts& facts);

}  // namespace burn::compile
