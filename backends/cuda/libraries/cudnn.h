// Convolutions and attention by cuDNN 9, loaded at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/driver/driver.h"
#include "backends/cuda/libraries/cudnn_api.h"
#include "backends/cuda/libraries/cudnn_attention.h"

namespace burn::backends::cuda {

// forward: input, weight -> output; input_grad: output, weight -> input; weight_grad: input, output -> weight.
enum class ConvDirection : std::uint8_t { forward, input_grad, weight_grad };

struct ConvProblem {
  ConvDirection direction = ConvDirection::forward;
  ir::DType dtype = ir::DType::f32;
  ir::Shape input, weight, output;  // [n, c_in, in...], [c_out, c_in / groups, kernel...], [n, c_out, out...]
  ir::Dims stride, pad_begin, pad_end, dilation;
  std::int64_t groups = 1;
  bool tf32 = false;  // f32 may be multiplied with ten bits of mantissa
};

// A prepared convolution: its algorithm and its workspace size. Thread-safe. Operands and result are row-major.
class PreparedConv {
 public:
  virtual ~PreparedConv() = default;
  virtual std::string name() const = 0;  // of the algorithm
  virtual std::size_t workspace_bytes() const = 0;
  virtual Status run(CUdeviceptr first, CUdeviceptr second, CUdeviceptr result, CUdeviceptr workspace,
                     CUstream stream) const = 0;
};

class Cudnn {
 public:
  // For the current context. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<Cudnn>> open();

  std::string version() const;
  // Prepares the problem with each of the library's algorithms that gives the same bits every time, in the order of the
  // library's expected speed. Errors: UNIMPLEMENTED for what the library does not support: unequal padding, sizes of
  // 2^31, other dtypes.
  Result<std::vector<std::shared_ptr<const PreparedConv>>> prepare(const ConvProblem& problem) const;
  AttentionLibrary& attention() { return *attention_; }

 private:
  Cudnn() = default;
  std::shared_ptr<CudnnHandle> handle_;  // shared with everything prepared
  std::unique_ptr<AttentionLibrary> attention_;
};

}  // namespace burn::backends::cuda
