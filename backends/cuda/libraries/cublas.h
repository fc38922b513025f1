// Products by cuBLASLt, each prepared once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/autotune.h"
#include "backends/cuda/libraries/cublas_api.h"
#include "backends/cuda/libraries/cublas_product.h"

namespace burn::backends::cuda {

class CublasLt {
 public:
  // For the current context, which belongs to a device of this name. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<CublasLt>> open(const std::string& device);
  ~CublasLt();

  std::string version() const;
  static bool has(ir::DType dtype) { return ir::is_floating(dtype); }
  static bool has_epilogues(ir::DType dtype) { return has(dtype) && dtype != ir::DType::f64; }
  // Prepares a product with the fastest of the library's candidate kernels, which are timed once per kind of product
  // (not timed if BURN_AUTOTUNE is off; nor for vectors, which text generation multiplies with ever new matrices).
  // Thread-safe. Errors: UNIMPLEMENTED if the library has no kernel for it.
  Result<std::shared_ptr<const PreparedProduct>> prepare(const Product& product);

 private:
  static constexpr std::size_t kMaxPrepared = 4096;  // beyond it, all are dropped and prepared again

  CublasLt() = default;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const PreparedProduct>> prepared_;
  cublasLtHandle_t handle_ = nullptr;
  std::unique_ptr<Autotune> choices_;
};

}  // namespace burn::backends::cuda
