// Mixed precision: a scope in which products compute in a 16-bit float, whatever dtype their operands have.
//
//   const Autocast scope{DType::bf16};
//   const auto loss = nn::CrossEntropyLoss{}(net.forward(x), targets);   // products in bf16, the loss in f32
//
// * Products (matmul, linear, convolution, attention) cast what they are given, biases too, and give that dtype. The
//   casts are part of the graph: the gradient of an f32 weight is f32.
// * Normalisations, softmax, losses, sums, means and variances compute in f32 as ever, and give f32.
// * All else follows its operands; two floats of different dtypes meet in the wider one (f16 and bf16: in f32).
// * f64 and whole numbers are left alone.
//
// Gradients compute in the dtypes of what they are gradients of, and optimizers in those of their parameters: scopes
// say nothing to either. Nor does a scope say anything to other threads. docs/mixed-precision.md has the whole.
#pragma once

#include <initializer_list>
#include <optional>

#include "client/value.h"
#include "client/where.h"
#include "ir/types/dtype.h"

namespace burn {

// From here to the end of the block, on this thread. Scopes nest: the innermost one counts. Ended by the thread that
// began it, in the opposite order.
class Autocast {
 public:
  // bf16 or f16: what products compute in. f32: nothing is cast, as outside of any scope. Errors (thrown): another
  // dtype.
  [[nodiscard]] explicit Autocast(ir::DType dtype, Loc where = Loc::current());
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  // What products compute in on this thread; nothing where nothing is cast.
  static std::optional<ir::DType> dtype();

 private:
  const std::optional<ir::DType> outer_;
};

namespace client {

// What the operands of a product are to be cast to, if they are: none is f64 or no float. Null pointers are passed
// over.
std::optional<ir::DType> product_dtype(std::initializer_list<const Value*> operands);

// The dtype in which floats of different dtypes meet within a scope; nothing outside of one, or for equal ones.
std::optional<ir::DType> wider_dtype(ir::DType a, ir::DType b);
inline std::optional<ir::DType> common_dtype(ir::DType a, ir::DType b) {
  return a == b ? std::nullopt : wider_dtype(a, b);
}

}  // namespace client
}  // namespace burn
