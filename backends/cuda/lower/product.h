// Products of matrices, alone and with an epilogue that a library computes in the same call.
#pragma once

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/libraries/cublas.h"

namespace burn::backends::cuda {

// c = a b. Shapes: [..., m, k], [..., k, n] -> [..., m, n].
Status multiply(Emitter& emit, View a, View b, const View& c);

// The same with an epilogue by cuBLASLt; `vector`: the epilogue's operand or result. Errors: UNIMPLEMENTED if the
// library does not support it; nothing has been emitted then.
Status multiply_with(Emitter& emit, Epilogue epilogue, const View& a, const View& b, const View& c, const View& vector);

// y = x reduced over its axes by the function of `op`.
Status reduce(Emitter& emit, const ir::Reduce& op, const View& x, const View& y);

// A product with its epilogue: in one call, or one after the other if the library does not support that or is not
// faster.
Status lower_product(Emitter& emit, const ir::Program& program, const ProductWithEpilogue& product);

}  // namespace burn::backends::cuda
