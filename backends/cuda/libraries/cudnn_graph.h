// Graphs of operations for cuDNN's engines: tensors in memory, virtual tensors that are only passed from one operation
// to the next, the operations between them, and the plan by which an engine executes the graph. Wraps the descriptors
// of the library's graph API, each with an owner.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/libraries/cudnn_api.h"

namespace burn::backends::cuda {

// A descriptor of the library's backend API. Movable; used by one thread at a time.
class DnnDescriptor {
 public:
  DnnDescriptor() = default;
  DnnDescriptor(DnnDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  DnnDescriptor& operator=(DnnDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~DnnDescriptor();

  // `what`: its name in error messages.
  static Result<DnnDescriptor> make(cudnnBackendDescriptorType_t type, const char* what);

  template <typename T>
  Status set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::span<const T> values,
             const char* what) {
    return set_bytes(name, type, static_cast<std::int64_t>(values.size()), values.data(), what);
  }
  template <typename T>
  Status set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value, const char* what) {
    return set(name, type, std::span<const T>(&value, 1), what);
  }
  Status set(cudnnBackendAttributeName_t name, const DnnDescriptor& value, const char* what) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.descriptor_, what);
  }
  Status finalize(const char* what);

  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  Status set_bytes(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                   const void* values, const char* what);

  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// The target of plans: the device of a handle or, without a GPU, a description of one. Plans for a description have a
// workspace size and engines, but cannot run.
class DnnTarget {
 public:
  explicit DnnTarget(cudnnHandle_t handle) : handle_(handle) {}
  // `properties`: the library's JSON text about a device.
  static Result<DnnTarget> described(std::string_view properties);

  cudnnHandle_t handle() const { return handle_; }
  const DnnDescriptor& properties() const { return properties_; }

 private:
  DnnTarget() = default;
  cudnnHandle_t handle_ = nullptr;
  DnnDescriptor properties_;
};

// [batch, heads, rows, columns]: the dims of all tensors in these graphs.
using DnnDims = std::array<std::int64_t, 4>;
DnnDims row_major(const DnnDims& sizes);

struct DnnTensor {
  std::int64_t id = -1;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  DnnDims sizes{}, strides{};
};

class DnnPlan;

// A graph that is built operation by operation. The first failure is kept, and later operations do nothing.
class DnnGraph {
 public:
  const Status& status() const { return status_; }

  // A tensor in memory; runs pass the addresses in the order of these calls. Aligned to 16 bytes.
  DnnTensor memory(cudnnDataType_t type, const DnnDims& sizes, const DnnDims& strides);
  // A constant of the graph.
  DnnTensor number(float value);
  DnnTensor number(std::int32_t value);
  // A virtual tensor, passed from one operation to the next and never stored as a whole in memory.
  DnnTensor virtual_tensor(cudnnDataType_t type, const DnnDims& sizes, const DnnDims& strides);

  void matmul(const DnnTensor& a, const DnnTensor& b, const DnnTensor& c);
  // The product as a virtual tensor: [..., rows of a, columns of b], f32.
  DnnTensor matmul(const DnnTensor& a, const DnnTensor& b);
  // mode(x), mode(x, b) or mode(x, b, t), computed in `math`; an operand of size 1 in a dim is repeated along it.
  void pointwise(cudnnPointwiseMode_t mode, std::initializer_list<DnnTensor> operands, const DnnTensor& y,
                 cudnnDataType_t math = CUDNN_DATA_FLOAT, std::int64_t axis = -1);
  // The result is a virtual tensor with the sizes of the first operand, of type `type`.
  DnnTensor pointwise(cudnnPointwiseMode_t mode, std::initializer_list<DnnTensor> operands,
                      cudnnDataType_t type = CUDNN_DATA_FLOAT, cudnnDataType_t math = CUDNN_DATA_FLOAT,
                      std::int64_t axis = -1);
  // Reduces over columns; f32.
  DnnTensor reduce(cudnnReduceTensorOp_t op, const DnnTensor& x);
  void reshape(const DnnTensor& x, const DnnTensor& y);
  // softmax(scale q k^T) v as one operation, and the softmax's statistics.
  void attention(const DnnTensor& q, const DnnTensor& k, const DnnTensor& v, const DnnTensor& scale, const DnnTensor& y,
                 const DnnTensor& statistics);

  // Whether any engine accepts the graph, as far as that is known without compiling its kernels. Errors: the graph's
  // status; UNIMPLEMENTED with the reasons.
  Status find_engine(const DnnTarget& target) const;
  // The plan of the first engine, in order of preference, that accepts the graph. Compiles its kernels, which takes up
  // to a second. Errors: the graph's status; UNIMPLEMENTED with the message of each engine.
  Result<std::unique_ptr<DnnPlan>> plan(const DnnTarget& target) const;

 private:
  friend class DnnPlan;
  using Number = std::variant<float, std::int32_t>;

  DnnTensor tensor(cudnnDataType_t type, const DnnDims& sizes, const DnnDims& strides, bool is_passed, bool is_number);
  const DnnDescriptor& of(const DnnTensor& tensor) const { return tensors_[static_cast<std::size_t>(tensor.id - 1)]; }
  // Adds the operation that `write` returns, unless something failed before.
  template <typename Write>
  void add(Write write);
  Result<DnnDescriptor> finished(const DnnTarget& target) const;  // the library's graph

  Status status_;
  std::vector<DnnDescriptor> tensors_, operations_;  // tensors by id - 1
  std::vector<std::int64_t> memory_, numbers_;       // ids
  std::vector<Number> values_;                       // of numbers_
};

// Thread-safe except for the handle.
class DnnPlan {
 public:
  std::size_t workspace_bytes() const { return workspace_; }
  const std::string& engine() const { return engine_; }  // for messages: "engine 5 (mode A)"
  // Enqueues the plan on the handle's stream. `memory`: the addresses of the graph's tensors in memory, in their order.
  Status run(cudnnHandle_t handle, std::span<const CUdeviceptr> memory, CUdeviceptr workspace) const;

 private:
  friend class DnnGraph;

  DnnDescriptor plan_;
  std::vector<std::int64_t> ids_;         // of tensors in memory, then of numbers
  std::vector<DnnGraph::Number> values_;  // the constants, which the library reads at each run
  std::size_t workspace_ = 0;
  std::string engine_;
};

}  // namespace burn::backends::cuda
