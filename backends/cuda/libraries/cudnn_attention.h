// Attention and its gradients as graphs of cuDNN: fused kernels that never have all the scores in memory.
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
  bool any_order = false;  // the gradient of q is added up in any order: faster, with other bits each time
  // In elements. g, the gradient of y, and the gradients of q, k and v are the gradient's only.
  DnnDims q{}, k{}, v{}, y{}, g{}, dq{}, dk{}, dv{};

  void set_row_major();  // of all
  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};
std::string to_string(const AttentionProblem& problem);

// Whether graphs are made of it at all: dtypes, sizes, what the version of the library (91002: 9.10.2) and the
// architecture ("sm_90") are known not to do. Errors: UNIMPLEMENTED with the reason.
Status check_attention(const AttentionProblem& problem, int version, const std::string& architecture);
// Whether strides and addresses of an operand are such that engines read it: whole vectors of 16 bytes.
bool is_attendable(const DnnDims& sizes, const DnnDims& strides, std::int64_t offset_bytes);

// As much of the problem as one run should take: all of it, or some of its batch, or some of one batch item's heads,
// evenly, so that the scores that engines keep for a gradient are at most so many bytes, where that can be.
AttentionProblem bounded_part(const AttentionProblem& problem, std::size_t most_bytes);

// Which operations a graph is made of.
enum class AttentionForm : std::uint8_t {
  composite,  // products, a mask and a softmax, which engines recognise
  unified,    // one operation: forward without a mask
};

// Requires: check_attention() said yes. Where the library fails, the graph says so. Its tensors in memory are those of
// PreparedAttention::run(), then `inner`, of so many bytes.
struct AttentionGraph {
  DnnGraph graph;
  std::vector<std::size_t> inner;
};
AttentionGraph attention_graph(const AttentionProblem& problem, AttentionForm form);

// Attention made ready. Thread-safe.
class PreparedAttention {
 public:
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // Addresses of q, k, v, y and the statistics, all as ir::Attention has them; for the gradient then of g, and of the
  // gradients of q, k and v.
  Status run(std::span<const CUdeviceptr> memory, CUdeviceptr workspace, CUstream stream) const;

 private:
  friend class AttentionLibrary;
  PreparedAttention() = default;

  std::shared_ptr<CudnnHandle> handle_;
  std::unique_ptr<DnnPlan> plan_;  // of a part
  std::int64_t batch_parts_ = 1, head_parts_ = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps_;  // bytes from part to part, of each tensor of run()
  std::size_t workspace_bytes_ = 0;
  std::vector<std::size_t> inner_;  // where in the workspace the tensors begin that only the graph knows
};

// What is known of problems, and what was made ready. Thread-safe.
class AttentionLibrary {
 public:
  explicit AttentionLibrary(std::shared_ptr<CudnnHandle> handle) : handle_(std::move(handle)) {}

  // Whether there are engines for it: prepare() compiles their kernels. Errors: UNIMPLEMENTED with the reason, which is
  // what each engine of each form said where check_attention() has nothing against it.
  Status supports(const AttentionProblem& problem, const std::string& architecture);
  // With the first form that an engine takes, in parts where a gradient would want too much workspace; the same one for
  // the same problem. Requires: supports() said yes to the
  // problem with all operands row-major. Errors: as there.
  Result<std::shared_ptr<const PreparedAttention>> prepare(const AttentionProblem& problem);

 private:
  const std::shared_ptr<CudnnHandle> handle_;
  std::mutex mutex_;  // is held while plans are made
  std::unordered_map<std::string, Status> supported_;
  std::unordered_map<std::string, std::shared_ptr<const PreparedAttention>> prepared_;
};

}  // namespace burn::backends::cuda
