// Convolutions by cuDNN 9, found when the program runs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cudnn.h>

#include "backends/cuda/emitter.h"

namespace burn::backends::cuda {

// FN(name): every function of the library that is used.
#define BURN_CUDNN(FN)                               \
  FN(cudnnConvolutionBackwardData)                   \
  FN(cudnnConvolutionBackwardFilter)                 \
  FN(cudnnConvolutionForward)                        \
  FN(cudnnCreate)                                    \
  FN(cudnnCreateConvolutionDescriptor)               \
  FN(cudnnCreateFilterDescriptor)                    \
  FN(cudnnCreateTensorDescriptor)                    \
  FN(cudnnDestroy)                                   \
  FN(cudnnDestroyConvolutionDescriptor)              \
  FN(cudnnDestroyFilterDescriptor)                   \
  FN(cudnnDestroyTensorDescriptor)                   \
  FN(cudnnGetConvolutionBackwardDataAlgorithm_v7)    \
  FN(cudnnGetConvolutionBackwardDataWorkspaceSize)   \
  FN(cudnnGetConvolutionBackwardFilterAlgorithm_v7)  \
  FN(cudnnGetConvolutionBackwardFilterWorkspaceSize) \
  FN(cudnnGetConvolutionForwardAlgorithm_v7)         \
  FN(cudnnGetConvolutionForwardWorkspaceSize)        \
  FN(cudnnGetErrorString)                            \
  FN(cudnnGetVersion)                                \
  FN(cudnnSetConvolutionGroupCount)                  \
  FN(cudnnSetConvolutionMathType)                    \
  FN(cudnnSetConvolutionNdDescriptor)                \
  FN(cudnnSetFilterNdDescriptor)                     \
  FN(cudnnSetStream)                                 \
  FN(cudnnSetTensorNdDescriptor)

// forward: input, weight -> output; input_grad: output, weight -> input; weight_grad: input, output -> weight.
enum class ConvDirection : std::uint8_t { forward, input_grad, weight_grad };

struct ConvProblem {
  ConvDirection direction = ConvDirection::forward;
  ir::DType dtype = ir::DType::f32;
  ir::Shape input, weight, output;  // [n, c_in, in...], [c_out, c_in / groups, kernel...], [n, c_out, out...]
  ir::Dims stride, pad_begin, pad_end, dilation;
  std::int64_t groups = 1;
  bool tf32 = false;  // may f32 be multiplied with ten bits of mantissa
};

// A convolution made ready: which algorithm, how much workspace. Thread-safe. Operands and result are row-major.
class PreparedConv {
 public:
  virtual ~PreparedConv() = default;
  virtual std::string name() const = 0;  // of the algorithm
  virtual std::size_t workspace_bytes() const = 0;
  virtual Status run(CUdeviceptr first, CUdeviceptr second, CUdeviceptr result, CUdeviceptr workspace,
                     CUstream stream) const = 0;
};

// A handle of the library: calls of it take turns, for it belongs to one stream at a time.
class CudnnHandle {
 public:
  CudnnHandle() = default;
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  ~CudnnHandle();

  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
};

class Cudnn {
 public:
  // For the current context. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<Cudnn>> open();

  std::string version() const;
  // By each algorithm that the library has for it and that gives the same bits every time, the one first that the
  // library expects to be fastest. Errors: UNIMPLEMENTED for what the library does not take: unequal padding, sizes of
  // 2^31, other dtypes.
  Result<std::vector<std::shared_ptr<const PreparedConv>>> prepare(const ConvProblem& problem) const;

 private:
  Cudnn() = default;
  std::shared_ptr<CudnnHandle> handle_;  // what is prepared keeps it
};

}  // namespace burn::backends::cuda
