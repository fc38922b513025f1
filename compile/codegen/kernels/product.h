// Matrix products.
#pragma once

#include <optional>

#include "compile/codegen/emitter.h"

namespace burn::compile::kernels {

// c[..., m, n] = the sum over k of a[..., m, k] b[..., k, n], of one dtype and any strides; the dims before the last
// two are the same in all three. 16-bit floats are summed up in f32, whole numbers wrap. `bias`: of c's shape, is added
// to the sum before it is rounded.
Status emit_product(Emitter& emit, const View& a, const View& b, const View& c, const std::optional<View>& bias = {});

}  // namespace burn::compile::kernels
