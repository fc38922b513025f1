// Kernels for devices without some types of whole numbers.
#pragma once

#include "base/status.h"
#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::kernel {

// A kernel with the same parameters in the argument record that computes the same, of the types that the device has:
// * without has_int64, whole numbers of 64 bits are pairs of u32 (wide.h), in memory and in shared arrays as well;
// * without has_narrow or has_int64, those of 8 and 16 bits are i32 and u32 that hold no other numbers, and their
// elements in memory
//   are parts of words of 32 bits: reads take the word that has them, and a store changes their bits of it and no
//   others (Code::store_bits), since other threads may store beside them.
// Offsets from an address are then of 32 bits with a sign, in bytes: DeviceFacts::max_allocation is at most 2^31.
// The kernel itself where the device has them all. Errors: UNIMPLEMENTED: f64, tiles, functions of the device's own.
Result<Kernel> legalised(const Kernel& kernel, const DeviceFacts& facts);

}  // namespace burn::compile::kernel
