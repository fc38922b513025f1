#include "ir/work.h"

#include <algorithm>
#include <variant>

namespace burn::ir {
namespace {

constexpr double kMultiplyAdd = 1.0 / 16;

double size(const TensorType& type) {
  double count = 1;
  for (const auto dim : type.shape) count *= static_cast<double>(dim);
  return count;
}
double product(const Dims& dims) {
  double count = 1;
  for (const auto dim : dims) count *= static_cast<double>(dim);
  return count;
}
double last(const TensorType& type, int from_the_end = 1) {
  const int axis = type.shape.rank() - from_the_end;
  return axis >= 0 ? static_cast<double>(type.shape[axis]) : 1;
}
// Elements per channel: the product of the spatial dims of [n, c, in...].
double plane(const TensorType& type) {
  double count = 1;
  for (int i = 2; i < type.shape.rank(); ++i) count *= static_cast<double>(type.shape[i]);
  return count;
}

// The work of one node.
struct Cost {
  const Program& program;
  const Node& node;

  const TensorType& operand(std::size_t i) const { return program.type_of(program.operands_of(node)[i]); }
  const TensorType& result() const { return program.type_of(node); }

  double largest() const {
    double most = 0;
    for (const auto& made : program.results_of(node)) most = std::max(most, size(made.type));
    for (const auto ref : program.operands_of(node)) most = std::max(most, size(program.type_of(ref)));
    return most;
  }

  double operator()(const Reshape&) const { return 0; }
  double operator()(const Permute&) const { return 0; }
  double operator()(const Expand&) const { return 0; }
  double operator()(const Slice&) const { return 0; }
  double operator()(const Place&) const { return 0; }

  double operator()(const MatMul&) const { return size(result()) * last(operand(0)) * kMultiplyAdd + largest(); }
  // Every output is a sum over the channels of its group and the elements of the kernel.
  double operator()(const Conv&) const {
    const auto& weight = operand(1);
    return size(result()) * size(weight) / std::max(1.0, static_cast<double>(weight.shape[0])) * kMultiplyAdd;
  }
  double operator()(const ConvInputGrad&) const {
    const auto& weight = operand(1);
    return size(operand(0)) * size(weight) / std::max(1.0, static_cast<double>(weight.shape[0])) * kMultiplyAdd;
  }
  double operator()(const ConvWeightGrad&) const {
    return size(operand(1)) * static_cast<double>(result().shape[1]) * plane(result()) * kMultiplyAdd;
  }
  double operator()(const AvgPool& op) const { return size(result()) * product(op.kernel) + largest(); }
  double operator()(const AvgPoolGrad& op) const { return size(operand(0)) * product(op.kernel) + largest(); }
  double operator()(const MaxPool& op) const { return size(result()) * product(op.kernel) + largest(); }
  // For each pair of rows of q and k: products over k's width and v's width, and the softmax weight, which costs 1 at
  // any width.
  double attention(double per_width, double rows) const {
    const double width = (last(operand(0)) + last(operand(2))) / 2;
    return rows * last(operand(1), 2) * (per_width * width * kMultiplyAdd + 1) + largest();
  }
  double operator()(const Attention&) const { return attention(2, size(program.results_of(node)[1].type)); }
  double operator()(const AttentionGrad&) const { return attention(5, size(operand(4))); }

  // A matrix [n, m] costs `passes` passes over it for each of its min(n, m) steps, without the cost of right-hand
  // sides.
  double factorisation(double passes) const {
    const double least = std::min(last(operand(0)), last(operand(0), 2));
    return passes * size(operand(0)) * least * kMultiplyAdd + largest();
  }
  double operator()(const Cholesky&) const { return factorisation(1.0 / 3); }
  double operator()(const Lu&) const { return factorisation(1); }
  double operator()(const Det&) const { return factorisation(1); }
  double operator()(const Qr&) const { return factorisation(4); }
  double operator()(const Svd&) const { return factorisation(20); }
  double operator()(const Eigh&) const { return factorisation(10); }
  double operator()(const Solve&) const {
    return factorisation(1) + 2 * size(operand(1)) * last(operand(0)) * kMultiplyAdd;
  }
  double operator()(const SolveTriangular&) const {
    return size(operand(1)) * last(operand(0)) * kMultiplyAdd + largest();
  }

  template <typename Kind>
  double operator()(const Kind&) const {
    return largest();
  }
};

}  // namespace

double estimated_work(const Program& program) {
  double work = 0;
  for (const auto& node : program.nodes) work += estimated_work(program, node);
  return work;
}

double estimated_work(const Program& program, const Node& node) { return std::visit(Cost{program, node}, node.op); }

}  // namespace burn::ir
