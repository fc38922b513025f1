// How OpenBLAS is set up.
#pragma once

namespace burn::backends::cpu {

// Has it take kernels for this processor's instruction sets where it does not know the model, unless
// OPENBLAS_CORETYPE says which. To be called before anything else of it. Whether it did.
bool choose_openblas_kernels();

}  // namespace burn::backends::cpu
