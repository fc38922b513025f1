#include "backends/cuda/libraries/cudnn_graph.h"

#include <fmt/format.h>

#include "backends/cuda/libraries/cudnn_numbers.h"

namespace burn::backends::cuda {

// --- descriptors -----------------------------------------------------------------------------------------------------

DnnDescriptor::~DnnDescriptor() {
  if (descriptor_) cudnn_api().cudnnBackendDestroyDescriptor(descriptor_);
}

Result<DnnDescriptor> DnnDescriptor::make(cudnnBackendDescriptorType_t type, const char* what) {
  DnnDescriptor made;
  const auto status = cudnn_api().cudnnBackendCreateDescriptor(type, &made.descriptor_);
  if (status != CUDNN_STATUS_SUCCESS) return check_cudnn(status, fmt::format("{}: descriptor", what));
  return made;
}

Status DnnDescriptor::set_bytes(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                                const void* values, const char* what) {
  const auto status = cudnn_api().cudnnBackendSetAttribute(descriptor_, name, type, count, values);
  if (status == CUDNN_STATUS_SUCCESS) return {};
  return check_cudnn(status, fmt::format("{}: attribute {}", what, static_cast<int>(name)));
}

Status DnnDescriptor::finalize(const char* what) {
  const auto status = cudnn_api().cudnnBackendFinalize(descriptor_);
  return status == CUDNN_STATUS_SUCCESS ? Status{} : check_cudnn(status, fmt::format("{}: finalize", what));
}

Result<DnnTarget> DnnTarget::described(std::string_view properties) {
  constexpr auto kWhat = "device";
  DnnTarget target;
  BURN_TRY(target.properties_, DnnDescriptor::make(dnn::kDevice, kWhat));
  BURN_RETURN_IF_ERROR(
      target.properties_.set(dnn::kDeviceJson, CUDNN_TYPE_CHAR, std::span<const char>(properties), kWhat));
  BURN_RETURN_IF_ERROR(target.properties_.finalize(kWhat));
  return target;
}

// --- tensors ---------------------------------------------------------------------------------------------------------

DnnDims row_major(const DnnDims& sizes) {
  DnnDims strides{1, 1, 1, 1};
  for (std::size_t i = 3; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

template <typename Write>
void DnnGraph::add(Write write) {
  if (!status_.ok()) return;
  auto made = write();
  if (made.ok())
    operations_.push_back(std::move(*made));
  else
    status_ = made.status();
}

DnnTensor DnnGraph::tensor(cudnnDataType_t type, const DnnDims& sizes, const DnnDims& strides, bool is_passed,
                           bool is_number) {
  const DnnTensor made{static_cast<std::int64_t>(tensors_.size()) + 1, type, sizes, strides};
  const auto write = [&]() -> Result<DnnDescriptor> {
    constexpr auto kWhat = "tensor";
    constexpr std::int64_t kAlignment = 16;
    BURN_TRY(auto x, DnnDescriptor::make(CUDNN_BACKEND_TENSOR_DESCRIPTOR, kWhat));
    BURN_RETURN_IF_ERROR(x.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type, kWhat));
    BURN_RETURN_IF_ERROR(
        x.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(sizes), kWhat));
    BURN_RETURN_IF_ERROR(
        x.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const std::int64_t>(strides), kWhat));
    BURN_RETURN_IF_ERROR(x.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, made.id, kWhat));
    BURN_RETURN_IF_ERROR(x.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment, kWhat));
    if (is_passed) BURN_RETURN_IF_ERROR(x.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true, kWhat));
    if (is_number) BURN_RETURN_IF_ERROR(x.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true, kWhat));
    BURN_RETURN_IF_ERROR(x.finalize(kWhat));
    return x;
  };
  DnnDescriptor descriptor;
  if (status_.ok()) {
    auto written = write();
    if (written.ok())
      descriptor = std::move(*written);
    else
      status_ = written.status();
  }
  tensors_.push_back(std::move(descriptor));
  return made;
}

DnnTensor DnnGraph::memory(cudnnDataType_t type, const DnnDims& sizes, const DnnDims& strides) {
  const auto made = tensor(type, sizes, strides, false, false);
  memory_.push_back(made.id);
  return made;
}

DnnTensor DnnGraph::virtual_tensor(cudnnDataType_t type, const DnnDims& sizes, const DnnDims& strides) {
  return tensor(type, sizes, strides, true, false);
}

DnnTensor DnnGraph::number(float value) {
  const auto made = tensor(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true);
  numbers_.push_back(made.id);
  values_.emplace_back(value);
  return made;
}

DnnTensor DnnGraph::number(std::int32_t value) {
  const auto made = tensor(CUDNN_DATA_INT32, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true);
  numbers_.push_back(made.id);
  values_.emplace_back(value);
  return made;
}

// --- operations ------------------------------------------------------------------------------------------------------

void DnnGraph::matmul(const DnnTensor& a, const DnnTensor& b, const DnnTensor& c) {
  add([&]() -> Result<DnnDescriptor> {
    constexpr auto kWhat = "matmul";
    BURN_TRY(auto how, DnnDescriptor::make(CUDNN_BACKEND_MATMUL_DESCRIPTOR, kWhat));
    BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT, kWhat));
    BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_MATMUL_PADDING_VALUE, CUDNN_TYPE_DOUBLE, 0.0, kWhat));
    BURN_RETURN_IF_ERROR(how.finalize(kWhat));
    BURN_TRY(auto op, DnnDescriptor::make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, of(a), kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, of(b), kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, of(c), kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how, kWhat));
    BURN_RETURN_IF_ERROR(op.finalize(kWhat));
    return op;
  });
}

DnnTensor DnnGraph::matmul(const DnnTensor& a, const DnnTensor& b) {
  const DnnDims sizes{a.sizes[0], a.sizes[1], a.sizes[2], b.sizes[3]};
  const auto c = virtual_tensor(CUDNN_DATA_FLOAT, sizes, row_major(sizes));
  matmul(a, b, c);
  return c;
}

void DnnGraph::pointwise(cudnnPointwiseMode_t mode, std::initializer_list<DnnTensor> operands, const DnnTensor& y,
                         cudnnDataType_t math, std::int64_t axis) {
  add([&]() -> Result<DnnDescriptor> {
    const auto what = fmt::format("pointwise {}", static_cast<int>(mode));
    BURN_TRY(auto how, DnnDescriptor::make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, what.c_str()));
    BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode, what.c_str()));
    BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, math, what.c_str()));
    if (axis >= 0) BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis, what.c_str()));
    BURN_RETURN_IF_ERROR(how.finalize(what.c_str()));
    BURN_TRY(auto op, DnnDescriptor::make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, what.c_str()));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how, what.c_str()));
    constexpr cudnnBackendAttributeName_t kOperands[] = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                                         CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                                         CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
    const auto* name = kOperands;
    for (const auto& operand : operands) BURN_RETURN_IF_ERROR(op.set(*name++, of(operand), what.c_str()));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of(y), what.c_str()));
    BURN_RETURN_IF_ERROR(op.finalize(what.c_str()));
    return op;
  });
}

DnnTensor DnnGraph::pointwise(cudnnPointwiseMode_t mode, std::initializer_list<DnnTensor> operands,
                              cudnnDataType_t type, cudnnDataType_t math, std::int64_t axis) {
  const auto& like = *operands.begin();
  const auto y = virtual_tensor(type, like.sizes, like.strides);
  pointwise(mode, operands, y, math, axis);
  return y;
}

DnnTensor DnnGraph::reduce(cudnnReduceTensorOp_t reduction, const DnnTensor& x) {
  const DnnDims sizes{x.sizes[0], x.sizes[1], x.sizes[2], 1};
  const auto y = virtual_tensor(CUDNN_DATA_FLOAT, sizes, row_major(sizes));
  add([&]() -> Result<DnnDescriptor> {
    constexpr auto kWhat = "reduction";
    BURN_TRY(auto how, DnnDescriptor::make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, kWhat));
    BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT, kWhat));
    BURN_RETURN_IF_ERROR(how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, reduction, kWhat));
    BURN_RETURN_IF_ERROR(how.finalize(kWhat));
    BURN_TRY(auto op, DnnDescriptor::make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, of(x), kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, of(y), kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how, kWhat));
    BURN_RETURN_IF_ERROR(op.finalize(kWhat));
    return op;
  });
  return y;
}

void DnnGraph::reshape(const DnnTensor& x, const DnnTensor& y) {
  add([&]() -> Result<DnnDescriptor> {
    constexpr auto kWhat = "reshape";
    BURN_TRY(auto op, DnnDescriptor::make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, of(x), kWhat));
    BURN_RETURN_IF_ERROR(op.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, of(y), kWhat));
    BURN_RETURN_IF_ERROR(op.finalize(kWhat));
    return op;
  });
}

void DnnGraph::attention(const DnnTensor& q, const DnnTensor& k, const DnnTensor& v, const DnnTensor& scale,
                         const DnnTensor& y, const DnnTensor& statistics) {
  add([&]() -> Result<DnnDescriptor> {
    constexpr auto kWhat = "attention";
    BURN_TRY(auto op, DnnDescriptor::make(dnn::kAttention, kWhat));
    BURN_RETURN_IF_ERROR(op.set(dnn::kAttentionQ, of(q), kWhat));
    BURN_RETURN_IF_ERROR(op.set(dnn::kAttentionK, of(k), kWhat));
    BURN_RETURN_IF_ERROR(op.set(dnn::kAttentionV, of(v), kWhat));
    BURN_RETURN_IF_ERROR(op.set(dnn::kAttentionY, of(y), kWhat));
    BURN_RETURN_IF_ERROR(op.set(dnn::kAttentionStatistics, of(statistics), kWhat));
    BURN_RETURN_IF_ERROR(op.set(dnn::kAttentionScale, of(scale), kWhat));
    BURN_RETURN_IF_ERROR(op.finalize(kWhat));
    return op;
  });
}

}  // namespace burn::backends::cuda
