// Fourier transforms are products with small matrices here (backends/plan/decompose_fourier.cc), which supports() asks
// for; nothing is left to lower.
#include "backends/cuda/lower/lower.h"

namespace burn::backends::cuda::lowering {

Status lower(Emitter&, const ir::Fft&, const NodeInPlan&) { return unimplemented("CUDA: fft by itself"); }
Status lower(Emitter&, const ir::RealFft&, const NodeInPlan&) { return unimplemented("CUDA: real_fft by itself"); }
Status lower(Emitter&, const ir::InverseRealFft&, const NodeInPlan&) {
  return unimplemented("CUDA: inverse_real_fft by itself");
}

}  // namespace burn::backends::cuda::lowering
