// Attention and its gradients as cuDNN graphs: fused kernels that never store all scores in memory.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/cuda/libraries/cudnn_graph.h"
#include "ir/types/dtype.h"

namespace burn::backends::cuda {

// ir::Attention or ir::AttentionGrad on [batch, heads, rows, columns], without a mask or a bias. Statistics are
// row-major.
struct AttentionProblem {
  bool is_grad = false;
  ir::DType dtype = ir::DType::bf16;
  std::int64_t batch = 1, heads = 1;
  std::int64_t n = 1, m = 1, d = 1, e = 1;  // q [n, d], k [m, d], v [m, e], y [n, e]
  double scale = 1;
  bool causal = false;
  bool any_order = false;  // the gradient of q is summed in any order: faster, but with other bits each time
  // Strides in elements. g, the gradient of y, and the gradients of q, k and v are used for gradients only.
  DnnDims q{}, k{}, v{}, y{}, g{}, dq{}, dk{}, dv{};

  void set_row_major();  // all strides
  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};
std::string to_string(const AttentionProblem& problem);

// Checks whether graphs support the problem at all: dtypes, sizes, and known limits of the library's version (91002:
// 9.10.2) and of the architecture ("sm_90"). Errors: UNIMPLEMENTED with the reason.
Status check_attention(const AttentionProblem& problem, int version, const std::string& architecture);
// Whether engines can read an operand with these strides and this address: in whole vectors of 16 bytes.
bool is_engine_readable(const DnnDims& sizes, const DnnDims& strides, std::int64_t offset_bytes);

// The part of the problem that one run should compute: all of it, or an even part of its batch, or an even part of the
// heads of one batch item, so that the scores that engines store for a gradient take at most `most_bytes`, if possible.
AttentionProblem bounded_part(const AttentionProblem& problem, std::size_t most_bytes);

// The operations that a graph consists of.
enum class AttentionForm : std::uint8_t {
  composite,  // products, a mask and a softmax, which engines recognise
  unified,    // one operation: forward without a mask
};

// Requires: check_attention() succeeded. If the library fails, the graph's status has the error. The graph's tensors in
// memory are those of PreparedAttention::run(), followed by `inner`, whose sizes are in bytes.
struct AttentionGraph {
  DnnGraph graph;
  std::vector<std::size_t> inner;
};
AttentionGraph attention_graph(const AttentionProblem& problem, AttentionForm form);

// A prepared attention. Thread-safe.
class PreparedAttention {
 public:
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // `memory`: the addresses of q, k, v, y and the statistics, as in ir::Attention; for the gradient followed by g and
  // the gradients of q, k and v.
  Status run(std::span<const CUdeviceptr> memory, CUdeviceptr workspace, CUstream stream) const;

 private:
  friend class AttentionLibrary;
  PreparedAttention() = default;

  std::shared_ptr<CudnnHandle> handle_;
  std::unique_ptr<DnnPlan> plan_;  // the plan of one part
  std::int64_t batch_parts_ = 1, head_parts_ = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      steps_;  // for each tensor of run(): bytes from one batch part to the next, and from one head part to the next
  std::size_t workspace_bytes_ = 0;
  std::vector<std::size_t> inner_;  // offsets in the workspace of the graph's inner tensors
};

// Which problems are supported, and prepared ones. Thread-safe.
class AttentionLibrary {
 public:
  explicit AttentionLibrary(std::shared_ptr<CudnnHandle> handle) : handle_(std::move(handle)) {}

  // Whether there are engines for the problem: prepare() compiles their kernels. Errors: UNIMPLEMENTED with the reason,
  // which is the message of each engine of each form if check_attention() succeeds.
  Status supports(const AttentionProblem& problem, const std::string& architecture);
  // Prepares the problem in the first form that an engine accepts, in parts if a gradient would need too much
  // workspace; returns the same object for the same problem. Requires: supports() succeeded for the problem with all
  // operands row-major. Errors: as there.
  Result<std::shared_ptr<const PreparedAttention>> prepare(const AttentionProblem& problem);

 private:
  const std::shared_ptr<CudnnHandle> handle_;
  std::mutex mutex_;  // held while plans are built
  std::unordered_map<std::string, Status> supported_;
  std::unordered_map<std::string, std::shared_ptr<const PreparedAttention>> prepared_;
};

}  // namespace burn::backends::cuda
