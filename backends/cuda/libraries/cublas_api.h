// cuBLASLt, loaded at run time: its functions, and its failures as Statuses.
#pragma once

#include <cublasLt.h>

#include "backends/cuda/driver/shared_library.h"
#include "base/status.h"

namespace burn::backends::cuda {

// FN(name): every function of the library that is used.
#define BURN_CUBLASLT(FN)                  \
  FN(cublasLtCreate)                       \
  FN(cublasLtDestroy)                      \
  FN(cublasLtGetStatusString)              \
  FN(cublasLtGetVersion)                   \
  FN(cublasLtMatmul)                       \
  FN(cublasLtMatmulAlgoGetHeuristic)       \
  FN(cublasLtMatmulDescCreate)             \
  FN(cublasLtMatmulDescDestroy)            \
  FN(cublasLtMatmulDescSetAttribute)       \
  FN(cublasLtMatmulPreferenceCreate)       \
  FN(cublasLtMatmulPreferenceDestroy)      \
  FN(cublasLtMatmulPreferenceSetAttribute) \
  FN(cublasLtMatrixLayoutCreate)           \
  FN(cublasLtMatrixLayoutDestroy)          \
  FN(cublasLtMatrixLayoutSetAttribute)

struct CublasApi {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_CUBLASLT(FN)
#undef FN
};

SharedLibrary& cublas_library();
// Requires: cublas_library().load() succeeded.
const CublasApi& cublas_api();

// INTERNAL for a failed call.
Status check_cublas(cublasStatus_t status, const char* what);

}  // namespace burn::backends::cuda
