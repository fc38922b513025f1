// cuBLASLt, found when the program runs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <cublasLt.h>

#include "backends/autotune.h"
#include "backends/cuda/compile_names.h"
#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/shared_library.h"

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

// A matrix as it lies in memory: of its two strides one is 1.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 0;
  std::int64_t batch_stride = 0;
  int alignment = 256;  // bytes that its address is a multiple of
};

// What else a product does in the same call. A vector of the product's dtype comes to it:
enum class Epilogue : std::uint8_t {
  none,
  bias,    // [columns of c]: added to each row of c before it is rounded
  a_sums,  // [rows of a]: gets the sum of each row of a
  b_sums,  // [columns of b]: gets the sum of each column of b
};

// c = a b for a batch of row-major c.
struct Product {
  Matrix a, b, c;
  std::int64_t batch = 1;
  ir::DType dtype = ir::DType::f32;
  bool tf32 = false;                   // f32 may be multiplied with ten bits of mantissa
  Epilogue epilogue = Epilogue::none;  // others: of one product, not of a batch
  int vector_alignment = 256;          // bytes that the epilogue's vector's address is a multiple of
};

// Where a product's operands and results are. `vector`: the epilogue's.
struct ProductAddresses {
  CUdeviceptr a = 0, b = 0, c = 0, vector = 0, workspace = 0;
};

// A product made ready: which kernel, how much workspace. Thread-safe.
class PreparedProduct {
 public:
  virtual ~PreparedProduct() = default;
  virtual std::size_t workspace_bytes() const = 0;
  virtual Status run(const ProductAddresses& at, CUstream stream) const = 0;
};

SharedLibrary& cublas_library();

class CublasLt {
 public:
  // For the current context, that of a device of this name. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<CublasLt>> open(const std::string& device);
  ~CublasLt();

  std::string version() const;
  static bool has(ir::DType dtype) { return ir::is_floating(dtype); }
  static bool has_epilogues(ir::DType dtype) { return has(dtype) && dtype != ir::DType::f64; }
  // With the fastest of the kernels that the library has in mind for it, timed once for each kind of product (none of
  // them, where BURN_AUTOTUNE is off; nor for vectors, which generation multiplies with ever new matrices).
  // Thread-safe. Errors: UNIMPLEMENTED where the library has nothing for it.
  Result<std::shared_ptr<const PreparedProduct>> prepare(const Product& product);

 private:
  static constexpr std::size_t kMostPrepared = 4096;  // then all are forgotten and made anew

  CublasLt() = default;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const PreparedProduct>> prepared_;
  cublasLtHandle_t handle_ = nullptr;
  std::unique_ptr<Autotune> choices_;
};

}  // namespace burn::backends::cuda
