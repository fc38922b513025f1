// cuDNN 9, found when the program runs: its functions, and its failures as Statuses.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <cudnn.h>

#include "backends/cuda/driver/shared_library.h"
#include "base/status.h"

namespace burn::backends::cuda {

// FN(name): every function of the library that is used.
#define BURN_CUDNN(FN)                               \
  FN(cudnnBackendCreateDescriptor)                   \
  FN(cudnnBackendDestroyDescriptor)                  \
  FN(cudnnBackendExecute)                            \
  FN(cudnnBackendFinalize)                           \
  FN(cudnnBackendGetAttribute)                       \
  FN(cudnnBackendSetAttribute)                       \
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
  FN(cudnnGetLastErrorString)                        \
  FN(cudnnGetVersion)                                \
  FN(cudnnSetConvolutionGroupCount)                  \
  FN(cudnnSetConvolutionMathType)                    \
  FN(cudnnSetConvolutionNdDescriptor)                \
  FN(cudnnSetFilterNdDescriptor)                     \
  FN(cudnnSetStream)                                 \
  FN(cudnnSetTensorNdDescriptor)

// The functions of a generation ago do all that convolutions need; that the headers call them deprecated is no news.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct CudnnApi {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_CUDNN(FN)
#undef FN
};
#pragma GCC diagnostic pop

SharedLibrary& cudnn_library();
// Requires: cudnn_library().load() said yes.
const CudnnApi& cudnn_api();

// UNIMPLEMENTED for what the library does not take, with its own words about why where it has any; else INTERNAL.
Status check_cudnn(cudnnStatus_t status, std::string_view what);

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

}  // namespace burn::backends::cuda
