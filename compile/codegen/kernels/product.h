// Matrix products.
#pragma once

#include "compile/codegen/emitter.h"
#include "compile/codegen/group_plan.h"

namespace burn::compile::kernels {

// c[..., m, n] = the sum over k of a[..., m, k] b[..., k, n], of one dtype and any strides; the dims before the last
// two are the same in all three. 16-bit floats are summed up in f32, whole numbers wrap.
Status emit_product(Emitter& emit, const View& a, const View& b, const View& c);

// The same where c, of this type, is not stored but read by a group without rows: its operand of
// GroupOperand::Kind::computed, row-major over the group's domain.
Status emit_product(Emitter& emit, const View& a, const View& b, const ir::TensorType& type, const GroupPlan& group);

}  // namespace burn::compile::kernels
