// Products by kernels that oneDNN generates for their sizes. Of 16-bit floats as they are: with the matrix or
// dot-product instructions of the processor where it has them (AMX, AVX-512-bf16). Sums are f32, rounded once at the
// end.
#pragma once

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Operands and result are the bits of bf16 or f16; alpha is 1, beta 0.
using HalfProduct = Product<std::uint16_t>;

// Whether oneDNN has kernels for this dtype on this machine that are worth a try.
bool has_half_products(ir::DType dtype);

// On the calling thread alone. Errors: UNIMPLEMENTED if there is no kernel for these sizes, then nothing was written.
Status multiply_half_here(Run& run, ir::DType dtype, const HalfProduct& product);

// Of f32, by the same kind of kernels, on the calling thread alone. False: there is none for these sizes, or alpha is
// not 1 or beta not 0, and nothing was written.
bool multiply_generated(const Product<float>& product);

// On several threads: in bands of rows, of columns, or both ways with the least to read.
enum class HalfSplit { rows, columns, both };
Status multiply_half(Run& run, ir::DType dtype, const HalfProduct& product, HalfSplit cut);

}  // namespace burn::backends::cpu
