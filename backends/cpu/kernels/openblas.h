// Set-up of OpenBLAS.
#pragma once

namespace burn::backends::cpu {

// Makes OpenBLAS use kernels for this processor's instruction sets if it does not know the model, unless
// OPENBLAS_CORETYPE selects some. To be called before any other function of OpenBLAS. Returns whether it did.
bool choose_openblas_kernels();

}  // namespace burn::backends::cpu
