// From an op to its kernels in the kernel language: one function per op, each in the file of its family.
#pragma once

#include "compile/codegen/emitter.h"
#include "compile/codegen/target.h"
#include "ir/ops.h"

namespace burn::compile::kernels {

// The ops that have kernels of their own. What a group can have (functions, casts, random numbers) needs none, and
// views are never computed.
#define BURN_KERNEL_OPS(OP) \
  OP(Iota)                  \
  OP(Random)                \
  OP(Reshape)               \
  OP(SliceAssign)           \
  OP(Concat)                \
  OP(Gather)                \
  OP(Scatter)               \
  OP(ArgReduce)             \
  OP(AvgPool)               \
  OP(AvgPoolGrad)           \
  OP(AdaptiveAvgPool)       \
  OP(AdaptiveAvgPoolGrad)   \
  OP(MaxPool)               \
  OP(AdaptiveMaxPool)       \
  OP(Scan)                  \
  OP(Sort)                  \
  OP(TopK)                  \
  OP(Nms)                   \
  OP(Reduce)                \
  OP(BandedScan)            \
  OP(Interpolate)           \
  OP(InterpolateGrad)       \
  OP(Cholesky)              \
  OP(Lu)                    \
  OP(Qr)                    \
  OP(Svd)                   \
  OP(Eigh)                  \
  OP(Solve)                 \
  OP(SolveTriangular)       \
  OP(MatMul)                \
  OP(Attention)             \
  OP(AttentionGrad)         \
  OP(Conv)                  \
  OP(ConvInputGrad)         \
  OP(ConvWeightGrad)

// Errors: UNIMPLEMENTED for a dtype that the device lacks.
#define OP(type) Status lower(Emitter& emit, const ir::type& op, const NodeInPlan& at);
BURN_KERNEL_OPS(OP)
#undef OP

// Whether KernelTarget can do an op on these operands, which fit it: in a group, by itself, or as a view.
bool has_kernels(const ir::Op& op, std::span<const ir::TensorType* const> operands, const DeviceFacts& facts);
// Attention: 16-bit floats of which the device has tiles, and no more columns than tiles have registers for.
bool has_attention(const DeviceFacts& facts, std::span<const ir::TensorType* const> operands, bool is_grad);

// Of one shape and dtype, whatever their strides.
void emit_copy(Emitter& emit, const View& from, const View& to);

// Combines the elements of `from` along the op's axes into `to`, of the same rank.
Status emit_reduce(Emitter& emit, const ir::Reduce& op, const View& from, const View& to);

// The sum of parts [count, elements] into `to`, which is contiguous and has as many elements.
Status sum_parts(Emitter& emit, const View& parts, const View& to);

}  // namespace burn::compile::kernels
