// Gradient checkpointing: saves memory in a backward pass at the price of some recomputation.
//
//   const GradientCheckpointing scope;                        // balanced
//   auto grads = loss.backward();
//
// or loss.with_gradient_checkpointing_strategy(GradientCheckpointingStrategy::balanced).backward().
//
// A backward pass needs values of the forward pass, which are kept until then. Balanced: values that are cheap to
// compute (elementwise functions, casts, views) from values that are kept anyway are recomputed where the gradient of a
// product, a convolution or an attention needs them: of gelu(x W), an operand of the next product, only x W is kept.
// Results of products, convolutions, reductions and random numbers are never recomputed. The gradients are the same,
// bit for bit if the device computes a formula alike in two places.
#pragma once

#include "client/ops/gradients.h"

namespace burn {

// Applies to backward passes of this thread from its construction to the end of the block. Scopes nest: the innermost
// one counts. Requires: destroyed by the thread that constructed it, in reverse order of construction. Does not apply
// to passes with create_graph, whose graph keeps all values.
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
