// Products by cuBLASLt, each made ready once.
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
  static constexpr std::size_t kMaxPrepared = 4096;  // then all are forgotten and made anew

  CublasLt() = default;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const PreparedProduct>> prepared_;
  cublasLtHandle_t handle_ = nullptr;
  std::unique_ptr<Autotune> choices_;
};

}  // namespace burn::backends::cuda
