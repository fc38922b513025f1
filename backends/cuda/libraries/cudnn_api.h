// cuDNN 9, loaded at run time: its functions, and its failures as Statuses.
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

// The legacy API suffices for convolutions; the headers' deprecation warnings are expected.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct CudnnApi {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_CUDNN(FN)
#undef FN
};
#pragma GCC diagnostic pop

SharedLibrary& cudnn_library();
// Requires: cudnn_library().load() succeeded.
const CudnnApi& cudnn_api();

// UNIMPLEMENTED for what the library does not support, with its message if it has any; otherwise INTERNAL.
Status check_cudnn(cudnnStatus_t status, std::string_view what);

// A handle of the library. Calls with it are serialized by `mutex`, as it belongs to one stream at a time.
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
