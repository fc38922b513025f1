// Checks and conversions of the arguments of runs, shared by all backends.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/stream.h"
#include "ir/program.h"

namespace burn::backends {

// Checks that the arguments fit the program. `is_own`: whether a buffer belongs to the backend of this name. Errors:
// INVALID_ARGUMENT with the numbers.
Status check_args(const ir::Program& program, const RunArgs& args, std::string_view backend,
                  bool (*is_own)(const Buffer& buffer));

// Converts a number of any dtype from the bits in which it is sent (ir::Constant) to an element of that dtype, which
// fills the first bytes of the result in memory.
std::uint64_t element_of_bits(ir::DType dtype, std::uint64_t bits);
// A tensor in host memory whose elements all equal that number.
SharedBytes filled(const ir::TensorType& type, const ir::Constant& number);

}  // namespace burn::backends
