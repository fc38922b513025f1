// What runs are given, as every backend has to look at it.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/stream.h"
#include "ir/program.h"

namespace burn::backends {

// Whether the arguments fit the program. `is_own`: whether a buffer is one of the backend of this name. Errors:
// INVALID_ARGUMENT with the numbers.
Status check_args(const ir::Program& program, const RunArgs& args, std::string_view backend,
                  bool (*is_own)(const Buffer& buffer));

// A number of any dtype from the bits in which it travels (ir::Constant), as an element of that dtype: in the first
// bytes of the result, in memory.
std::uint64_t element_of_bits(ir::DType dtype, std::uint64_t bits);
// A tensor of that number everywhere, in host memory.
SharedBytes filled(const ir::TensorType& type, const ir::Constant& number);

}  // namespace burn::backends
