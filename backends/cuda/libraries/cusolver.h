// cuSOLVER and cuBLAS, found when the program runs: factorisations and systems of equations.
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

// FN(name): every function of cuSOLVER that is used, and TYPED(name) those that are there for S (f32) and D (f64).
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

// One call for `count` matrices. The library thinks in columns: [rows, columns] of which a column's elements are
// neighbours, `ld` elements from one column to the next and `stride` from one matrix to the next.
struct MatrixCall {
  enum class What : std::uint8_t {
    cholesky,          // a := U of U^T U, in its upper triangle; infos
    cholesky_of_many,  // the same, a found by pointers
    lu,                // a := L, U; pivots [count, least], from 1; infos
    lu_of_many,        // the same of square ones, found by pointers
    solve,             // b := solution, with what lu left
    solve_of_many,     // the same with pointers; b's pointers follow the `count` of a
    solve_triangular,  // b := b a^-1, a [columns, columns] by its lower or upper triangle
    qr,                // a := R and, below it, reflectors; more := their factors [count, least]
    q,                 // a := the first `columns` columns of Q, of as many reflectors as `others` says
    svd,               // values, b := U [rows, least], more := V [columns, least]; a is lost
    eigh,              // of the upper triangle; values, a := vectors as columns
  };
  What what = What::lu;
  ir::DType dtype = ir::DType::f32;
  std::int64_t count = 1, rows = 0, columns = 0, others = 0;
  std::int64_t ld = 0, stride = 0;   // of a
  std::int64_t b_stride = 0;         // of b, whose columns have no gaps
  bool lower = false, unit = false;  // of a triangle
};

// Where these are; 0 for what a call has not. `pointers`: to matrices, as many CUdeviceptr.
struct MatrixAddresses {
  CUdeviceptr a = 0, b = 0, values = 0, more = 0;
  CUdeviceptr pointers = 0, pivots = 0, infos = 0;  // int32: [count, least], [count]
  CUdeviceptr workspace = 0;
};

SharedLibrary& cusolver_library();

// Thread-safe: calls take turns, also on the device, for what the libraries keep for themselves is of one stream at a
// time.
class Solver {
 public:
  // For the current context. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<Solver>> open();
  ~Solver();

  Result<std::size_t> workspace_bytes(const MatrixCall& call);
  // May wait for the device, so that it can not be captured.
  Status run(const MatrixCall& call, const MatrixAddresses& at, std::size_t workspace_bytes, CUstream stream);

 private:
  Solver() = default;
  Status take_turn(CUstream stream);

  std::mutex mutex_;
  cusolverDnHandle_t handle_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  gesvdjInfo_t jacobi_ = nullptr;
  CUevent last_done_ = nullptr;  // what was enqueued last, on last_stream_
  CUstream last_stream_ = nullptr;
};

}  // namespace burn::backends::cuda
