#include "backends/cuda/libraries/cudnn.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

Status check(cudnnStatus_t status, const char* what) { return check_cudnn(status, what); }

// The most workspace: more is not worth what an algorithm may gain by it.
constexpr std::size_t kMaxWorkspace = std::size_t{256} << 20;

// One algorithm for a problem. Candidates are in the order of the library's preference.
struct Candidate {
  int algorithm = 0;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  std::size_t workspace = 0;
};

class Prepared final : public PreparedConv {
 public:
  // Errors: UNIMPLEMENTED if the library cannot describe the problem.
  static Result<std::shared_ptr<Prepared>> make(std::shared_ptr<CudnnHandle> library, const ConvProblem& problem) {
    std::shared_ptr<Prepared> made(new Prepared(std::move(library)));
    made->direction_ = problem.direction;
    made->is_double_ = problem.dtype == ir::DType::f64;
    made->only_fma_ = problem.dtype == ir::DType::f32 && !problem.tf32;
    BURN_RETURN_IF_ERROR(made->describe(problem));
    return made;
  }
  ~Prepared() override {
    if (input_) cudnn_api().cudnnDestroyTensorDescriptor(input_);
    if (output_) cudnn_api().cudnnDestroyTensorDescriptor(output_);
    if (weight_) cudnn_api().cudnnDestroyFilterDescriptor(weight_);
    if (conv_) cudnn_api().cudnnDestroyConvolutionDescriptor(conv_);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  Result<std::vector<Candidate>> candidates() const;
  // Errors: UNIMPLEMENTED if the library rejects the algorithm after all.
  Status choose(const Candidate& candidate) {
    chosen_ = candidate;
    return set_candidate(candidate);
  }

  std::string name() const override {
    return fmt::format("cudnn {} {}", chosen_.algorithm, static_cast<int>(chosen_.math));
  }
  std::size_t workspace_bytes() const override { return chosen_.workspace; }

  Status run(CUdeviceptr first, CUdeviceptr second, CUdeviceptr result, CUdeviceptr workspace,
             CUstream stream) const override {
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const void* alpha = is_double_ ? static_cast<const void*>(&one64) : &one;
    const void* beta = is_double_ ? static_cast<const void*>(&zero64) : &zero;
    const auto pointer = [](CUdeviceptr address) {
      return reinterpret_cast<void*>(address);  // NOLINT: the driver's are numbers
    };
    const std::lock_guard lock(library_->mutex);
    auto* handle = library_->handle;
    BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnSetStream(handle, stream), "stream"));
    switch (direction_) {
      case ConvDirection::forward:
        return check(
            cudnn_api().cudnnConvolutionForward(handle, alpha, input_, pointer(first), weight_, pointer(second), conv_,
                                                algorithm<cudnnConvolutionFwdAlgo_t>(), pointer(workspace),
                                                chosen_.workspace, beta, output_, pointer(result)),
            "convolution");
      case ConvDirection::input_grad:
        return check(cudnn_api().cudnnConvolutionBackwardData(
                         handle, alpha, weight_, pointer(second), output_, pointer(first), conv_,
                         algorithm<cudnnConvolutionBwdDataAlgo_t>(), pointer(workspace), chosen_.workspace, beta,
                         input_, pointer(result)),
                     "a convolution's gradient in its input");
      case ConvDirection::weight_grad:
        return check(cudnn_api().cudnnConvolutionBackwardFilter(
                         handle, alpha, input_, pointer(first), output_, pointer(second), conv_,
                         algorithm<cudnnConvolutionBwdFilterAlgo_t>(), pointer(workspace), chosen_.workspace, beta,
                         weight_, pointer(result)),
                     "a convolution's gradient in its weight");
    }
    return {};
  }

 private:
  template <typename Algorithm>
  Algorithm algorithm() const {
    return static_cast<Algorithm>(chosen_.algorithm);
  }

  explicit Prepared(std::shared_ptr<CudnnHandle> library) : library_(std::move(library)) {}
  Status describe(const ConvProblem& problem);
  Status set_candidate(const Candidate& candidate);

  // Winograd's sums over all positions of all images have errors of 4e-4 of the result.
  template <typename Algorithm>
  bool is_inexact(Algorithm algorithm) const {
    return direction_ == ConvDirection::weight_grad && only_fma_ &&
           static_cast<int>(algorithm) == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED;
  }

  template <typename Performance, typename Get, typename... Descriptors>
  Result<std::vector<Candidate>> ask(Get get, Descriptors... descriptors) const {
    std::array<Performance, 16> found{};
    int count = 0;
    BURN_RETURN_IF_ERROR(check(
        get(library_->handle, descriptors..., static_cast<int>(found.size()), &count, found.data()), "algorithms"));
    std::vector<Candidate> all;
    for (int i = 0; i < count; ++i) {
      const auto& one = found[static_cast<std::size_t>(i)];
      // Only deterministic algorithms: the same operands must give the same bits.
      const bool fits =
          one.status == CUDNN_STATUS_SUCCESS && one.memory <= kMaxWorkspace && one.determinism == CUDNN_DETERMINISTIC;
      if (fits && !is_inexact(one.algo))
        all.push_back({static_cast<int>(one.algo), only_fma_ ? CUDNN_FMA_MATH : one.mathType, one.memory});
    }
    return all;
  }

  std::shared_ptr<CudnnHandle> library_;
  ConvDirection direction_ = ConvDirection::forward;
  bool is_double_ = false, only_fma_ = false;
  cudnnTensorDescriptor_t input_ = nullptr, output_ = nullptr;
  cudnnFilterDescriptor_t weight_ = nullptr;
  cudnnConvolutionDescriptor_t conv_ = nullptr;
  Candidate chosen_;
};

cudnnDataType_t type_of(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return CUDNN_DATA_DOUBLE;
    case ir::DType::f16:
      return CUDNN_DATA_HALF;
    case ir::DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// Dims as the library requires them: an image of one spatial dim has a height of 1.
std::vector<int> sizes_of(const ir::Shape& shape) {
  std::vector<int> sizes;
  for (const auto size : shape) sizes.push_back(static_cast<int>(size));
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  return sizes;
}

std::vector<int> list_of(const ir::Dims& dims, int of_missing) {
  std::vector<int> list;
  for (const auto value : dims) list.push_back(static_cast<int>(value));
  if (list.size() == 1) list.insert(list.begin(), of_missing);
  return list;
}

Status set_image(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type, const ir::Shape& shape) {
  const auto sizes = sizes_of(shape);
  std::vector<int> strides(sizes.size(), 1);
  for (auto i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return check(cudnn_api().cudnnSetTensorNdDescriptor(descriptor, type, static_cast<int>(sizes.size()), sizes.data(),
                                                      strides.data()),
               "an image");
}

Status Prepared::describe(const ConvProblem& problem) {
  const auto type = type_of(problem.dtype), compute = is_double_ ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnCreateTensorDescriptor(&input_), "an image"));
  BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnCreateTensorDescriptor(&output_), "an image"));
  BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnCreateFilterDescriptor(&weight_), "a weight"));
  BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnCreateConvolutionDescriptor(&conv_), "a convolution"));
  BURN_RETURN_IF_ERROR(set_image(input_, type, problem.input));
  BURN_RETURN_IF_ERROR(set_image(output_, type, problem.output));
  const auto weight = sizes_of(problem.weight);
  BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnSetFilterNdDescriptor(weight_, type, CUDNN_TENSOR_NCHW,
                                                                    static_cast<int>(weight.size()), weight.data()),
                             "a weight"));
  const auto padding = list_of(problem.pad_begin, 0), stride = list_of(problem.stride, 1),
             dilation = list_of(problem.dilation, 1);
  BURN_RETURN_IF_ERROR(check(
      cudnn_api().cudnnSetConvolutionNdDescriptor(conv_, static_cast<int>(padding.size()), padding.data(),
                                                  stride.data(), dilation.data(), CUDNN_CROSS_CORRELATION, compute),
      "a convolution"));
  BURN_RETURN_IF_ERROR(
      check(cudnn_api().cudnnSetConvolutionGroupCount(conv_, static_cast<int>(problem.groups)), "groups"));
  return check(cudnn_api().cudnnSetConvolutionMathType(conv_, only_fma_ ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH), "math");
}

Result<std::vector<Candidate>> Prepared::candidates() const {
  switch (direction_) {
    case ConvDirection::forward:
      return ask<cudnnConvolutionFwdAlgoPerf_t>(cudnn_api().cudnnGetConvolutionForwardAlgorithm_v7, input_, weight_,
                                                conv_, output_);
    case ConvDirection::input_grad:
      return ask<cudnnConvolutionBwdDataAlgoPerf_t>(cudnn_api().cudnnGetConvolutionBackwardDataAlgorithm_v7, weight_,
                                                    output_, conv_, input_);
    case ConvDirection::weight_grad:
      return ask<cudnnConvolutionBwdFilterAlgoPerf_t>(cudnn_api().cudnnGetConvolutionBackwardFilterAlgorithm_v7, input_,
                                                      output_, conv_, weight_);
  }
  return unimplemented("cuDNN: no such convolution");
}

Status Prepared::set_candidate(const Candidate& candidate) {
  BURN_RETURN_IF_ERROR(check(cudnn_api().cudnnSetConvolutionMathType(conv_, candidate.math), "math"));
  std::size_t bytes = 0;
  const auto status = [&] {
    switch (direction_) {
      case ConvDirection::forward:
        return cudnn_api().cudnnGetConvolutionForwardWorkspaceSize(
            library_->handle, input_, weight_, conv_, output_,
            static_cast<cudnnConvolutionFwdAlgo_t>(candidate.algorithm), &bytes);
      case ConvDirection::input_grad:
        return cudnn_api().cudnnGetConvolutionBackwardDataWorkspaceSize(
            library_->handle, weight_, output_, conv_, input_,
            static_cast<cudnnConvolutionBwdDataAlgo_t>(candidate.algorithm), &bytes);
      case ConvDirection::weight_grad:
        return cudnn_api().cudnnGetConvolutionBackwardFilterWorkspaceSize(
            library_->handle, input_, output_, conv_, weight_,
            static_cast<cudnnConvolutionBwdFilterAlgo_t>(candidate.algorithm), &bytes);
    }
    return CUDNN_STATUS_NOT_SUPPORTED;
  }();
  BURN_RETURN_IF_ERROR(check(status, "workspace"));
  return bytes <= candidate.workspace ? Status{}
                                      : unimplemented("cuDNN: an algorithm wants more workspace than it said");
}

Status check_taken(const ConvProblem& problem) {
  if (!ir::is_floating(problem.dtype)) return unimplemented("cuDNN: takes floats");
  if (problem.pad_begin != problem.pad_end) return unimplemented("cuDNN: padding is the same at both ends");
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  for (const auto* shape : {&problem.input, &problem.weight, &problem.output}) {
    if (ir::num_elements(*shape) == 0) return unimplemented("cuDNN: nothing to convolve");
    if (ir::num_elements(*shape) > kMax) return unimplemented("cuDNN: images of 2^31 elements or more");
  }
  for (const auto* list : {&problem.stride, &problem.pad_begin, &problem.dilation}) {
    if (std::ranges::any_of(*list, [](std::int64_t value) { return value > kMax; }))
      return unimplemented("cuDNN: strides, padding or dilation of 2^31 or more");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Cudnn>> Cudnn::open() {
  BURN_RETURN_IF_ERROR(cudnn_library().load());
  std::unique_ptr<Cudnn> made(new Cudnn());
  made->handle_ = std::make_shared<CudnnHandle>();
  const auto status = check(cudnn_api().cudnnCreate(&made->handle_->handle), "a handle");
  if (!status.ok()) return failed_precondition("CUDA: " + status.message());
  made->attention_ = std::make_unique<AttentionLibrary>(made->handle_);
  return made;
}

std::string Cudnn::version() const { return cudnn_library().version_text(); }

Result<std::vector<std::shared_ptr<const PreparedConv>>> Cudnn::prepare(const ConvProblem& problem) const {
  BURN_RETURN_IF_ERROR(check_taken(problem));
  const std::lock_guard lock(handle_->mutex);
  BURN_TRY(const auto described, Prepared::make(handle_, problem));
  BURN_TRY(const auto candidates, described->candidates());
  std::vector<std::shared_ptr<const PreparedConv>> all;
  for (const auto& candidate : candidates) {
    BURN_TRY(auto made, Prepared::make(handle_, problem));
    if (made->choose(candidate).ok()) all.push_back(std::move(made));
  }
  if (all.empty()) return unimplemented("cuDNN: no algorithm for this convolution");
  return all;
}

}  // namespace burn::backends::cuda
