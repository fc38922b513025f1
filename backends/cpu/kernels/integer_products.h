// Products of integers, modulo 2^bits like all arithmetic on them. No library has these.
#pragma once

#include "backends/cpu/kernels/gemm.h"

namespace burn::backends::cpu {

// On the calling thread only; may be interrupted. T: an unsigned integer; signed ones are computed as unsigned.
// Requires: alpha is 1, beta 0; k is not 0; operands that are not transposed.
template <typename T>
void multiply_integers(const Product<T>& product);

}  // namespace burn::backends::cpu
