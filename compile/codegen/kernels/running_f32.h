// Sums and products of many f32 one after the other, on devices without f64.
#pragma once

#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernels {

// Keeps beside the total what each step rounds away, and of a product its exponent, so that the total is right to the
// last bits of f32 and a product neither overflows nor vanishes on the way.
class RunningF32 {
 public:
  RunningF32(kernel::Writer& writer, bool is_sum);

  // The total of all that came so far, and x.
  kernel::Value next(kernel::Value x) const;

 private:
  kernel::Value next_sum(kernel::Value x) const;
  kernel::Value next_product(kernel::Value x) const;

  bool is_sum_;
  kernel::Variable total_, rest_, exponent_;  // a product is (total + rest) 2^exponent, 1 <= |total| < 2
};

}  // namespace burn::compile::kernels
