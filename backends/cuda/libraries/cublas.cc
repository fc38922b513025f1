#include "backends/cuda/libraries/cublas.h"

#include <utility>

#include <fmt/format.h>

namespace burn::backends::cuda {

Result<std::unique_ptr<CublasLt>> CublasLt::open(const std::string& device) {
  BURN_RETURN_IF_ERROR(cublas_library().load());
  std::unique_ptr<CublasLt> library(new CublasLt);
  BURN_RETURN_IF_ERROR(check_cublas(cublas_api().cublasLtCreate(&library->handle_), "cublasLtCreate"));
  library->choices_ = std::make_unique<Autotune>(autotune_file("cuda " + device + " cublas " + library->version()),
                                                 autotune_is_wanted());
  return library;
}

CublasLt::~CublasLt() {
  if (handle_) cublas_api().cublasLtDestroy(handle_);
}

std::string CublasLt::version() const { return std::to_string(cublas_library().version()); }

Result<std::shared_ptr<const PreparedProduct>> CublasLt::prepare(const Product& product) {
  const auto key =
      fmt::format("{} {} {} {} {} {} {}", key_of(product), product.a.alignment, product.b.alignment,
                  product.c.alignment, product.c.row_stride, product.c.batch_stride, product.vector_alignment);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = prepared_.find(key); found != prepared_.end()) return found->second;
  }
  BURN_TRY(auto made, prepare_product(handle_, product, *choices_));
  const std::lock_guard lock(mutex_);
  if (prepared_.size() == kMaxPrepared) prepared_.clear();
  prepared_.emplace(key, made);
  return made;
}

}  // namespace burn::backends::cuda
