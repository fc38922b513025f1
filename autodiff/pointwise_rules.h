// The gradients of the pointwise table (autodiff/rules.h has those of the other ops).
#pragma once

#include "autodiff/rules.h"

namespace burn::autodiff {

OperandGradients pointwise_gradients(ir::PointwiseFn fn, const Step& step);

}  // namespace burn::autodiff
