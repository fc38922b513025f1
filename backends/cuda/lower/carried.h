// Numbers as NCCL combines them.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/libraries/nccl.h"

namespace burn::backends::cuda {

// As what NCCL combines a dtype's numbers, so that they mean what they do on other devices.
struct Carried {
  NcclType type = NcclType::u8;
  std::size_t bytes = 1;       // of a number
  const char* wide = nullptr;  // its type in kernels; null: as it is in memory
  std::string to{}, from{};    // expressions of x, which is one or the other
};

NcclFunction function_of(ir::ReduceFn fn);
Carried carried(ir::ReduceFn fn, ir::DType dtype);

// The numbers at `from`, which lie behind each other, as they are combined: where they are, or scratch memory.
Address to_carried(Emitter& emit, const Carried& as, ir::DType dtype, const Address& from, std::int64_t count);
// Fills a row-major view with what was combined, unless NCCL has written it there.
void from_carried(Emitter& emit, const Carried& as, const Address& from, const View& to);

}  // namespace burn::backends::cuda
