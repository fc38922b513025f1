// Products of integers: modulo 2^bits, as all arithmetic on them is. No library has these.
#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace burn::backends::cpu {

// On the calling thread alone; may be interrupted. T: an unsigned integer, as which a signed one may be computed.
// Requires: alpha is 1, beta 0; k is not 0; operands that are not transposed.
template <typename T>
void multiply_integers(const Product<T>& product);

}  // namespace burn::backends::cpu
