#include "backends/cuda/libraries/cublas_api.h"

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

CublasApi api;

}  // namespace

SharedLibrary& cublas_library() {
#define FN(name) BURN_LIBRARY_FUNCTION(#name, api.name),
  static auto& library = *new SharedLibrary({
      .title = "cuBLASLt",
      .file = "libcublasLt",
      .releases = {{"libcublasLt.so.13"}, {"libcublasLt.so.12"}, {"/usr/local/cuda/lib64/libcublasLt.so"}},
      .functions = {BURN_CUBLASLT(FN)},
      .missing = "CUDA: libcublasLt, which multiplies matrices, is not there",
      .lacking = "CUDA: libcublasLt has no",
      .version = [] { return static_cast<int>(api.cublasLtGetVersion()); },
      .written = version_by_ten_thousands,
  });
#undef FN
  return library;
}

const CublasApi& cublas_api() { return api; }

Status check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return internal_error(fmt::format("cuBLASLt: {}: {}", what, api.cublasLtGetStatusString(status)));
}

}  // namespace burn::backends::cuda
