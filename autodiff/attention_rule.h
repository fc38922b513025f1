// The gradient rule of ir::Attention.
#pragma once

#include "autodiff/rules.h"

namespace burn::autodiff {

OperandGradients attention_gradients(const ir::Attention& op, const Step& step);

}  // namespace burn::autodiff
