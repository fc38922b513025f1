// One product of matrices by cuBLASLt: the problem, and the kernel that was chosen for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cublasLt.h>

#include "backends/autotune.h"
#include "backends/cuda/driver/driver.h"
#include "base/status.h"
#include "ir/types/dtype.h"

namespace burn::backends::cuda {

// The layout of a matrix in memory: one of its two strides is 1.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 0;
  std::int64_t batch_stride = 0;
  int alignment = 256;  // its address is a multiple of so many bytes
};

// What a product computes in the same call, with a vector of the product's dtype:
enum class Epilogue : std::uint8_t {
  none,
  bias,    // [columns of c]: added to each row of c before it is rounded
  a_sums,  // [rows of a]: receives the sum of each row of a
  b_sums,  // [columns of b]: receives the sum of each column of b
};

// c = a b for a batch of row-major c.
struct Product {
  Matrix a, b, c;
  std::int64_t batch = 1;
  ir::DType dtype = ir::DType::f32;
  bool tf32 = false;                   // f32 may be multiplied with ten bits of mantissa
  Epilogue epilogue = Epilogue::none;  // others than none: requires batch == 1
  int vector_alignment = 256;          // the address of the epilogue's vector is a multiple of so many bytes
};

// The addresses of a product's operands and results. `vector`: the epilogue's.
struct ProductAddresses {
  CUdeviceptr a = 0, b = 0, c = 0, vector = 0, workspace = 0;
};

// A prepared product: its kernel and its workspace size. Thread-safe.
class PreparedProduct {
 public:
  virtual ~PreparedProduct() = default;
  virtual std::size_t workspace_bytes() const = 0;
  virtual Status run(const ProductAddresses& at, CUstream stream) const = 0;
};

// The key under which the choice of a kernel is stored: type, batch, sizes and strides, and the epilogue.
std::string key_of(const Product& p);

// As CublasLt::prepare(), without its cache. `choices`: where timings are stored.
Result<std::shared_ptr<const PreparedProduct>> prepare_product(cublasLtHandle_t handle, const Product& product,
                                                               Autotune& choices);

}  // namespace burn::backends::cuda
