// Products of matrices, alone and with what a library does in the same call.
#pragma once

#include "backends/cuda/compile_names.h"
#include "backends/cuda/libraries/cublas.h"

namespace burn::backends::cuda {

// c = a b. Shapes: [..., m, k], [..., k, n] -> [..., m, n].
Status multiply(Emitter& emit, View a, View b, const View& c);

// The same with an epilogue by cuBLASLt; `vector`: what that reads or writes. Errors: UNIMPLEMENTED where it does not
// do it; nothing has been emitted then.
Status multiply_with(Emitter& emit, Epilogue epilogue, const View& a, const View& b, const View& c, const View& vector);

// y = sums (or what `op` says) of x over its axes.
Status reduce(Emitter& emit, const ir::Reduce& op, const View& x, const View& y);

// A product and its neighbour: in one call, or one after the other where the library does not do it or is not faster.
Status lower_product(Emitter& emit, const ir::Program& program, const ProductWithEpilogue& product);

}  // namespace burn::backends::cuda
