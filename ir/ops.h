// The structured ops: plain values, each with its attributes named once in kAttrs, from which encoding, hashing,
// printing and docs are derived (ir/attrs.h). An attribute that is absent on the wire has its field's initial value
// here: these defaults are part of the protocol and never change. Other properties of an op (shape rule, gradient,
// kernels) are functions in the file of its family: ir/rules/, autodiff/rules_*.cc, backends/cpu/kernels/,
// backends/cuda/lower/ with backends/cuda/kernels/, tests/reference/, tests/ops/; backends/null computes nothing and
// needs none. What an op means and what its shape rule demands: docs/ops.md. How one is added: docs/adding-an-op.md.
//
// An op has one result, or kResults of them. An op with kEffect has a side effect: every pass keeps such nodes, never
// merges them, and preserves their order.
//
// Broadcasting is explicit (Expand), except that a rank-0 operand of Pointwise applies to every element: user scalars
// are rank-0 values. Reductions keep their axes with size 1; a Reshape drops them. Both keep every rule here one line
// long.
#pragma once

#include "ir/ops/attention.h"
#include "ir/ops/axes.h"
#include "ir/ops/collectives.h"
#include "ir/ops/commit.h"
#include "ir/ops/elements.h"
#include "ir/ops/fourier.h"
#include "ir/ops/lattices.h"
#include "ir/ops/linalg.h"
#include "ir/ops/moves.h"
#include "ir/ops/sampling.h"
#include "ir/ops/windows.h"

// OP(struct) for every alternative of ir::Op, in the order of the variant. docs/ops.md follows it.
#define BURN_OPS(OP)     \
  BURN_ELEMENTS_OPS(OP)  \
  BURN_AXES_OPS(OP)      \
  BURN_LATTICES_OPS(OP)  \
  BURN_LINALG_OPS(OP)    \
  BURN_FOURIER_OPS(OP)   \
  BURN_ATTENTION_OPS(OP) \
  BURN_WINDOWS_OPS(OP)   \
  BURN_SAMPLING_OPS(OP)  \
  BURN_MOVES_OPS(OP)     \
  BURN_COMMIT_OPS(OP)    \
  BURN_COLLECTIVES_OPS(OP)
