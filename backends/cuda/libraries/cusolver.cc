#include "backends/cuda/libraries/cusolver.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

using What = MatrixCall::What;

// Newer functions take 64-bit sizes; the older ones suffice, and exist in every version.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
template <typename T>
struct Typed;
template <>
struct Typed<float> {
#define TYPED(name) decltype(&::cusolverDnS##name) name = nullptr;
  BURN_CUSOLVER_TYPED(TYPED)
#undef TYPED
#define TYPED(name) decltype(&::cublasS##name) name = nullptr;
  BURN_CUBLAS_TYPED(TYPED)
#undef TYPED
};
template <>
struct Typed<double> {
#define TYPED(name) decltype(&::cusolverDnD##name) name = nullptr;
  BURN_CUSOLVER_TYPED(TYPED)
#undef TYPED
#define TYPED(name) decltype(&::cublasD##name) name = nullptr;
  BURN_CUBLAS_TYPED(TYPED)
#undef TYPED
};
struct Table {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_CUSOLVER(FN)
  BURN_CUBLAS(FN)
#undef FN
  Typed<float> f32;
  Typed<double> f64;

  template <typename T>
  const Typed<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float))
      return f32;
    else
      return f64;
  }
};
#pragma GCC diagnostic pop
Table table;

const char* text_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      return "it does not start";
    case CUSOLVER_STATUS_ALLOC_FAILED:
      return "no memory";
    case CUSOLVER_STATUS_INVALID_VALUE:
      return "it does not take these sizes";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "it does not run on the device";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
      return "it does not do this";
    default:
      return "it fails";
  }
}

Status check(cusolverStatus_t status, const char* what) {
  if (status == CUSOLVER_STATUS_SUCCESS) return {};
  auto message = fmt::format("cuSOLVER: {}: {} ({})", what, text_of(status), static_cast<int>(status));
  return status == CUSOLVER_STATUS_ALLOC_FAILED ? resource_exhausted(std::move(message))
                                                : internal_error(std::move(message));
}
Status check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  auto message = fmt::format("cuBLAS: {}: {}", what, table.cublasGetStatusString(status));
  return status == CUBLAS_STATUS_ALLOC_FAILED ? resource_exhausted(std::move(message))
                                              : internal_error(std::move(message));
}

// Makes a call for one element type, with the libraries' types of sizes.
template <typename T>
class Caller {
 public:
  Caller(const MatrixCall& call, cusolverDnHandle_t handle, cublasHandle_t blas, gesvdjInfo_t jacobi)
      : call_(call),
        handle_(handle),
        blas_(blas),
        jacobi_(jacobi),
        count_(static_cast<int>(call.count)),
        rows_(static_cast<int>(call.rows)),
        columns_(static_cast<int>(call.columns)),
        others_(static_cast<int>(call.others)),
        ld_(static_cast<int>(call.ld)),
        least_(std::min(rows_, columns_)) {}

  Result<int> workspace() const {  // workspace in elements
    int size = 0;
    BURN_RETURN_IF_ERROR(check(ask(&size), "a workspace's size"));
    return size;
  }

  Status run(const MatrixAddresses& at, int workspace) const {
    switch (call_.what) {
      case What::cholesky_batched:
        return check(fns().potrfBatched(handle_, CUBLAS_FILL_MODE_UPPER, rows_, pointer<T*>(at.pointers), ld_,
                                        pointer<int>(at.infos), count_),
                     "potrfBatched");
      case What::lu_batched:
        return check(fns().getrfBatched(blas_, rows_, pointer<T*>(at.pointers), ld_, pointer<int>(at.pivots),
                                        pointer<int>(at.infos), count_),
                     "getrfBatched");
      case What::solve_batched:
        return solve_batched(at);
      default:
        break;
    }
    for (std::int64_t k = 0; k < call_.count; ++k) BURN_RETURN_IF_ERROR(run_one(at, k, workspace));
    return {};
  }

 private:
  static const Typed<T>& fns() { return table.of<T>(); }
  template <typename U>
  static U* pointer(CUdeviceptr address) {
    return reinterpret_cast<U*>(address);  // NOLINT: the driver's are numbers
  }

  cusolverStatus_t ask(int* size) const {
    constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
    const T* none = nullptr;
    switch (call_.what) {
      case What::cholesky:
        return fns().potrf_bufferSize(handle_, CUBLAS_FILL_MODE_UPPER, rows_, nullptr, ld_, size);
      case What::lu:
        return fns().getrf_bufferSize(handle_, rows_, columns_, nullptr, ld_, size);
      case What::qr:
        return fns().geqrf_bufferSize(handle_, rows_, columns_, nullptr, ld_, size);
      case What::q:
        return fns().orgqr_bufferSize(handle_, rows_, columns_, others_, none, ld_, none, size);
      case What::svd:
        return fns().gesvdj_bufferSize(handle_, kVectors, 1, rows_, columns_, none, ld_, none, none, rows_, none,
                                       columns_, size, jacobi_);
      case What::eigh:
        return fns().syevd_bufferSize(handle_, kVectors, CUBLAS_FILL_MODE_UPPER, rows_, none, ld_, none, size);
      default:
        return CUSOLVER_STATUS_SUCCESS;  // needs no workspace
    }
  }

  Status solve_batched(const MatrixAddresses& at) const {
    int wrong = 0;
    BURN_RETURN_IF_ERROR(
        check(fns().getrsBatched(blas_, CUBLAS_OP_N, rows_, others_, pointer<const T*>(at.pointers), ld_,
                                 pointer<int>(at.pivots), pointer<T*>(at.pointers) + count_, rows_, &wrong, count_),
              "getrsBatched"));
    return wrong == 0 ? Status() : internal_error(fmt::format("cuBLAS: getrsBatched: argument {}", -wrong));
  }

  Status run_one(const MatrixAddresses& at, std::int64_t k, int workspace) const {
    T *const a = pointer<T>(at.a) + k * call_.stride, *const b = pointer<T>(at.b) + k * call_.b_stride;
    T* const work = pointer<T>(at.workspace);
    int* const pivots = pointer<int>(at.pivots) + k * least_;
    int* const info = pointer<int>(at.infos) + k;
    T *const values = pointer<T>(at.values) + k * least_, *const factors = pointer<T>(at.more) + k * least_;
    switch (call_.what) {
      case What::cholesky:
        return check(fns().potrf(handle_, CUBLAS_FILL_MODE_UPPER, rows_, a, ld_, work, workspace, info), "potrf");
      case What::lu:
        return check(fns().getrf(handle_, rows_, columns_, a, ld_, work, pivots, info), "getrf");
      case What::solve:
        return check(fns().getrs(handle_, CUBLAS_OP_N, rows_, others_, a, ld_, pivots, b, rows_, info), "getrs");
      case What::solve_triangular: {
        const T one{1};
        return check(
            fns().trsm_v2(blas_, CUBLAS_SIDE_RIGHT, call_.lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                          CUBLAS_OP_N, call_.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, rows_, columns_, &one, a,
                          ld_, b, rows_),
            "trsm");
      }
      case What::qr:
        return check(fns().geqrf(handle_, rows_, columns_, a, ld_, factors, work, workspace, info), "geqrf");
      case What::q:
        return check(fns().orgqr(handle_, rows_, columns_, others_, a, ld_, pointer<T>(at.more) + k * others_, work,
                                 workspace, info),
                     "orgqr");
      case What::svd:
        return check(
            fns().gesvdj(handle_, CUSOLVER_EIG_MODE_VECTOR, 1, rows_, columns_, a, ld_, values, b, rows_,
                         pointer<T>(at.more) + k * columns_ * least_, columns_, work, workspace, info, jacobi_),
            "gesvdj");
      case What::eigh:
        return check(fns().syevd(handle_, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, rows_, a, ld_, values, work,
                                 workspace, info),
                     "syevd");
      default:
        return internal_error("cuSOLVER: no such call");
    }
  }

  const MatrixCall& call_;
  cusolverDnHandle_t handle_;
  cublasHandle_t blas_;
  gesvdjInfo_t jacobi_;
  int count_, rows_, columns_, others_, ld_, least_;
};

bool fits(const MatrixCall& call) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  return std::ranges::max({call.count, call.rows, call.columns, call.others, call.ld}) <= kMax;
}

}  // namespace

SharedLibrary& cusolver_library() {
#define FN(name) BURN_LIBRARY_FUNCTION(#name, table.name),
#define SOLVER_TYPED(name)                                    \
  BURN_LIBRARY_FUNCTION("cusolverDnS" #name, table.f32.name), \
      BURN_LIBRARY_FUNCTION("cusolverDnD" #name, table.f64.name),
#define BLAS_TYPED(name) \
  BURN_LIBRARY_FUNCTION("cublasS" #name, table.f32.name), BURN_LIBRARY_FUNCTION("cublasD" #name, table.f64.name),
  static auto& library = *new SharedLibrary({
      .title = "cuSOLVER",
      .file = "libcusolver",
      .releases = {{"libcublas.so.13", "libcusolver.so.12"},
                   {"libcublas.so.12", "libcusolver.so.11"},
                   {"/usr/local/cuda/lib64/libcublas.so", "/usr/local/cuda/lib64/libcusolver.so"}},
      .functions = {BURN_CUSOLVER(FN) BURN_CUBLAS(FN) BURN_CUSOLVER_TYPED(SOLVER_TYPED) BURN_CUBLAS_TYPED(BLAS_TYPED)},
      .missing = "CUDA: libcusolver, which factors large matrices, is not there",
      .lacking = "CUDA: libcusolver or libcublas has no",
      .version =
          [] {
            int number = 0;
            return table.cusolverGetVersion(&number) == CUSOLVER_STATUS_SUCCESS ? number : 0;
          },
      .oldest = 11000,  // CUDA 12's
      .written = version_by_thousands,
  });
#undef FN
#undef SOLVER_TYPED
#undef BLAS_TYPED
  return library;
}

Result<std::unique_ptr<Solver>> Solver::open() {
  BURN_RETURN_IF_ERROR(cusolver_library().load());
  std::unique_ptr<Solver> made(new Solver);
  BURN_RETURN_IF_ERROR(check(table.cusolverDnCreate(&made->handle_), "cusolverDnCreate"));
  BURN_RETURN_IF_ERROR(check(table.cublasCreate_v2(&made->blas_), "cublasCreate"));
  BURN_RETURN_IF_ERROR(check(table.cusolverDnCreateGesvdjInfo(&made->jacobi_), "cusolverDnCreateGesvdjInfo"));
  BURN_RETURN_IF_ERROR(
      cuda::check(driver().cuEventCreate(&made->last_done_, CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
  return made;
}

Solver::~Solver() {
  if (last_done_) driver().cuEventDestroy(last_done_);
  if (jacobi_) table.cusolverDnDestroyGesvdjInfo(jacobi_);
  if (blas_) table.cublasDestroy_v2(blas_);
  if (handle_) table.cusolverDnDestroy(handle_);
}

Result<std::size_t> Solver::workspace_bytes(const MatrixCall& call) {
  if (!fits(call)) return unimplemented("cuSOLVER: more than 2^31 of anything");
  const std::lock_guard lock(mutex_);
  const auto ask = [&]<typename T>(T) { return Caller<T>(call, handle_, blas_, jacobi_).workspace(); };
  BURN_TRY(const int elements, call.dtype == ir::DType::f64 ? ask(double{}) : ask(float{}));
  return static_cast<std::size_t>(elements) * ir::size_of(call.dtype);
}

Status Solver::take_turn(CUstream stream) {
  if (last_stream_ && last_stream_ != stream)
    BURN_RETURN_IF_ERROR(cuda::check(driver().cuStreamWaitEvent(stream, last_done_, 0), "cuStreamWaitEvent"));
  last_stream_ = stream;
  BURN_RETURN_IF_ERROR(
      check(table.cusolverDnSetStream(handle_, reinterpret_cast<cudaStream_t>(stream)), "cusolverDnSetStream"));
  return check(table.cublasSetStream_v2(blas_, reinterpret_cast<cudaStream_t>(stream)), "cublasSetStream");
}

Status Solver::run(const MatrixCall& call, const MatrixAddresses& at, std::size_t workspace_bytes, CUstream stream) {
  const std::lock_guard lock(mutex_);
  BURN_RETURN_IF_ERROR(take_turn(stream));
  const auto elements = static_cast<int>(workspace_bytes / ir::size_of(call.dtype));
  const auto status = call.dtype == ir::DType::f64 ? Caller<double>(call, handle_, blas_, jacobi_).run(at, elements)
                                                   : Caller<float>(call, handle_, blas_, jacobi_).run(at, elements);
  const auto recorded = cuda::check(driver().cuEventRecord(last_done_, stream), "cuEventRecord");
  return status.ok() ? recorded : status;
}

}  // namespace burn::backends::cuda
