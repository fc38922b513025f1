// Products by kernels that oneDNN generates for their sizes. 16-bit floats are multiplied without conversion, with the
// matrix or dot-product instructions of the processor if it has them (AMX, AVX-512-bf16). Sums are f32, rounded once at
// the end.
#pragma once

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Operands and result are the bits of bf16 or f16; alpha is 1, beta 0.
using HalfProduct = Product<std::uint16_t>;

// Whether oneDNN has kernels for this dtype on this machine that are worth a try.
bool has_half_products(ir::DType dtype);

// On the calling thread only. Errors: UNIMPLEMENTED if there is no kernel for these sizes; nothing was written.
Status multiply_half_here(Run& run, ir::DType dtype, const HalfProduct& product);

// The same kind of kernels for f32, on the calling thread only. False, and nothing was written: there is none for these
// sizes, or alpha is not 1 or beta not 0.
bool multiply_generated(const Product<float>& product);

// On several threads: in bands of rows, of columns, or both ways with the least data to read.
enum class HalfSplit { rows, columns, both };
Status multiply_half(Run& run, ir::DType dtype, const HalfProduct& product, HalfSplit cut);

}  // namespace burn::backends::cpu
