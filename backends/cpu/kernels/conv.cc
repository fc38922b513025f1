#include "backends/cpu/kernels/conv.h"

#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/fill.h"

namespace burn::backends::cpu {

const ir::Shape& ConvProblem::result() const {
  switch (direction) {
    case ConvDirection::forward:
      return output;
    case ConvDirection::input_grad:
      return input;
    case ConvDirection::weight_grad:
      return weight;
  }
  return output;
}

namespace {

template <typename Op>
ConvProblem problem_of(const Op& op, ConvDirection direction) {
  ConvProblem problem{.direction = direction};
  problem.stride = op.stride;
  problem.pad_begin = op.pad_begin;
  problem.pad_end = op.pad_end;
  problem.dilation = op.dilation;
  problem.groups = op.groups;
  return problem;
}

// f64 by plain loops; f32 by oneDNN if it supports the problem; 16-bit floats as f32.
Kernel conv_kernel(const ConvProblem& problem, ir::DType dtype) {
  std::shared_ptr<const ConvPrimitive> primitive;
  const bool is_empty = ir::num_elements(problem.input) == 0;  // no batch
  if (dtype != ir::DType::f64 && !is_empty) primitive = make_tuned_conv(problem);
  return [problem, dtype, is_empty, primitive](Run& run, std::span<Array> operands) -> Result<Array> {
    const auto computed = compute_dtype(dtype);
    BURN_TRY(Array y, run.allocate({computed, problem.result()}));
    if (is_empty) {
      fill_zeros(y.data(), static_cast<std::int64_t>(y.num_bytes()));
      return cast(run, y, dtype);
    }
    BURN_TRY(Array a, contiguous(run, operands[0]));
    BURN_TRY(Array b, contiguous(run, operands[1]));
    BURN_TRY(a, cast(run, a, computed));
    BURN_TRY(b, cast(run, b, computed));
    if (primitive)
      BURN_RETURN_IF_ERROR(primitive->run(run, a.as<float>(), b.as<float>(), y.as<float>()));
    else if (computed == ir::DType::f64)
      convolve_plainly(problem, a.as<double>(), b.as<double>(), y.as<double>());
    else
      convolve_plainly(problem, a.as<float>(), b.as<float>(), y.as<float>());
    return cast(run, y, dtype);
  };
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Conv& op, const Signature& signature) {
  auto problem = problem_of(op, ConvDirection::forward);
  problem.input = signature.operands[0]->shape;
  problem.weight = signature.operands[1]->shape;
  problem.output = signature.result.shape;
  return conv_kernel(problem, signature.result.dtype);
}

Result<Kernel> prepare(const ir::ConvInputGrad& op, const Signature& signature) {
  auto problem = problem_of(op, ConvDirection::input_grad);
  problem.output = signature.operands[0]->shape;
  problem.weight = signature.operands[1]->shape;
  problem.input = signature.result.shape;
  return conv_kernel(problem, signature.result.dtype);
}

Result<Kernel> prepare(const ir::ConvWeightGrad& op, const Signature& signature) {
  auto problem = problem_of(op, ConvDirection::weight_grad);
  problem.input = signature.operands[0]->shape;
  problem.output = signature.operands[1]->shape;
  problem.weight = signature.result.shape;
  return conv_kernel(problem, signature.result.dtype);
}

}  // namespace kernels
}  // namespace burn::backends::cpu
