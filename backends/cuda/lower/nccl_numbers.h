// The representation of numbers in NCCL's reductions.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/libraries/nccl.h"

namespace burn::backends::cuda {

// How numbers of a dtype are represented for NCCL's reductions, such that results mean the same as on other devices.
struct NcclNumbers {
  NcclType type = NcclType::u8;
  std::size_t bytes = 1;       // of a number
  const char* wide = nullptr;  // its type in kernels; null: the dtype's own representation
  std::string to{}, from{};    // expressions that convert x to it and back
};

NcclFunction function_of(ir::ReduceFn fn);
NcclNumbers nccl_numbers(ir::ReduceFn fn, ir::DType dtype);

// Converts the contiguous numbers at `from` to the representation: returns `from` itself if it is their own, otherwise
// scratch memory.
Address to_nccl_numbers(Emitter& emit, const NcclNumbers& as, ir::DType dtype, const Address& from, std::int64_t count);
// Converts combined numbers back into a row-major view, unless NCCL has written them there.
void from_nccl_numbers(Emitter& emit, const NcclNumbers& as, const Address& from, const View& to);

}  // namespace burn::backends::cuda
