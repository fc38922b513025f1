// cuSOLVER and cuBLAS, loaded at run time: factorisations and systems of equations.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/shared_library.h"
#include "ir/types/dtype.h"

namespace burn::backends::cuda {

// FN(name): every function of cuSOLVER that is used, and TYPED(name): those that exist for S (f32) and D (f64).
#define BURN_CUSOLVER(FN)         \
  FN(cusolverDnCreate)            \
  FN(cusolverDnCreateGesvdjInfo)  \
  FN(cusolverDnDestroy)           \
  FN(cusolverDnDestroyGesvdjInfo) \
  FN(cusolverDnSetStream)         \
  FN(cusolverGetVersion)
#define BURN_CUSOLVER_TYPED(TYPED) \
  TYPED(geqrf)                     \
  TYPED(geqrf_bufferSize)          \
  TYPED(gesvdj)                    \
  TYPED(gesvdj_bufferSize)         \
  TYPED(getrf)                     \
  TYPED(getrf_bufferSize)          \
  TYPED(getrs)                     \
  TYPED(orgqr)                     \
  TYPED(orgqr_bufferSize)          \
  TYPED(potrf)                     \
  TYPED(potrf_bufferSize)          \
  TYPED(potrfBatched)              \
  TYPED(syevd)                     \
  TYPED(syevd_bufferSize)
#define BURN_CUBLAS(FN)     \
  FN(cublasCreate_v2)       \
  FN(cublasDestroy_v2)      \
  FN(cublasGetStatusString) \
  FN(cublasGetVersion_v2)   \
  FN(cublasSetStream_v2)
#define BURN_CUBLAS_TYPED(TYPED) \
  TYPED(getrfBatched)            \
  TYPED(getrsBatched)            \
  TYPED(trsm_v2)

// One call for `count` matrices, which are column-major: [rows, columns], with `ld` elements from one column to the
// next and `stride` from one matrix to the next.
struct MatrixCall {
  enum class What : std::uint8_t {
    cholesky,          // a := U of U^T U, in its upper triangle; infos
    cholesky_batched,  // the same in one batched call, with pointers to a
    lu,                // a := L, U; pivots [count, least], from 1; infos
    lu_batched,        // the same in one batched call, for square matrices, with pointers
    solve,             // b := solution, with the results of lu
    solve_batched,     // the same in one batched call; b's pointers follow the `count` pointers to a
    solve_triangular,  // b := b a^-1, a [columns, columns] by its lower or upper triangle
    qr,                // a := R and, below it, reflectors; more := the reflectors' factors [count, least]
    q,                 // a := the first `columns` columns of Q, made of `others` reflectors
    svd,               // singular values, b := U [rows, least], more := V [columns, least]; a is overwritten
    eigh,              // of the upper triangle; eigenvalues, a := eigenvectors as columns
  };
  What what = What::lu;
  ir::DType dtype = ir::DType::f32;
  std::int64_t count = 1, rows = 0, columns = 0, others = 0;
  std::int64_t ld = 0, stride = 0;   // of a
  std::int64_t b_stride = 0;         // of b, whose columns are contiguous
  bool lower = false, unit = false;  // of a triangle
};

// The addresses of a call's data; 0 if the call has none. `pointers`: to matrices, as many CUdeviceptr.
struct MatrixAddresses {
  CUdeviceptr a = 0, b = 0, values = 0, more = 0;
  CUdeviceptr pointers = 0, pivots = 0, infos = 0;  // int32: [count, least], [count]
  CUdeviceptr workspace = 0;
};

SharedLibrary& cusolver_library();

// Thread-safe: calls are serialized, also on the device, as the libraries' internal state serves one stream at a time.
class Solver {
 public:
  // For the current context. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<Solver>> open();
  ~Solver();

  Result<std::size_t> workspace_bytes(const MatrixCall& call);
  // May wait for the device, so it cannot be captured.
  Status run(const MatrixCall& call, const MatrixAddresses& at, std::size_t workspace_bytes, CUstream stream);

 private:
  Solver() = default;
  Status take_turn(CUstream stream);

  std::mutex mutex_;
  cusolverDnHandle_t handle_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  gesvdjInfo_t jacobi_ = nullptr;
  CUevent last_done_ = nullptr;  // reached when the last call, on last_stream_, is done
  CUstream last_stream_ = nullptr;
};

}  // namespace burn::backends::cuda
