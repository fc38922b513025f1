// Gradient checkpointing: less memory for a backward pass, for some arithmetic.
//
//   const GradientCheckpointing scope;                        // balanced
//   auto grads = loss.backward();
//
// or loss.with_gradient_checkpointing_strategy(GradientCheckpointingStrategy::balanced).backward().
//
// A backward pass wants numbers of the forward pass, which keeps them until then. Balanced: what is cheap to compute
// (functions of elements, casts, views) is computed once more where a product, a convolution or an attention wants it,
// if it follows from numbers that are kept anyway: of gelu(x W) that go into the next product only x W is kept. Results
// of products, convolutions, reductions and random numbers are never computed twice. The gradients are the same,
// bit for bit where the device computes a formula alike in two places.
#pragma once

#include "client/ops/gradients.h"

namespace burn {

// For backward passes from here to the end of the block, on this thread. Scopes nest: the innermost one counts. Ended
// by the thread that began it, in the opposite order. Says nothing to passes with create_graph, whose graph keeps
// everything.
class GradientCheckpointing {
 public:
  [[nodiscard]] explicit GradientCheckpointing(
      GradientCheckpointingStrategy strategy = GradientCheckpointingStrategy::balanced);
  ~GradientCheckpointing();
  GradientCheckpointing(const GradientCheckpointing&) = delete;
  GradientCheckpointing& operator=(const GradientCheckpointing&) = delete;

  static GradientCheckpointingStrategy strategy();  // on this thread

 private:
  const GradientCheckpointingStrategy outer_;
};

}  // namespace burn
