// Mixed precision: a scope in which products compute in a 16-bit float, whatever dtype their operands have.
//
//   const Autocast scope{DType::bf16};
//   const auto loss = nn::CrossEntropyLoss{}(net.forward(x), targets);   // products in bf16, the loss in f32
//
// * Products (matmul, linear, convolution, attention) cast their operands, biases included, and return that dtype. The
//   casts are part of the graph: the gradient of an f32 weight is f32.
// * Normalisations, softmax, losses, sums, means and variances compute in f32, as outside of a scope, and return f32.
// * All other functions compute in the dtype of their operands; two floats of different dtypes are cast to the wider
//   one (f16 and bf16: to f32).
// * f64 and whole numbers are never cast.
//
// A gradient computes in the dtype of the value that it belongs to, and an optimizer in the dtypes of its parameters:
// scopes affect neither. A scope does not affect other threads. Details: docs/mixed-precision.md.
#pragma once

#include <initializer_list>
#include <optional>

#include "client/value.h"
#include "client/where.h"
#include "ir/types/dtype.h"

namespace burn {

// Active from its construction to the end of the block, on this thread. Scopes nest: the innermost one counts.
// Requires: destroyed by the thread that constructed it, in reverse order of construction.
class Autocast {
 public:
  // `dtype`: bf16 or f16, in which products compute; f32: nothing is cast, as outside of any scope. Errors (thrown):
  // another dtype.
  [[nodiscard]] explicit Autocast(ir::DType dtype, Loc where = Loc::current());
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  // The dtype that products compute in on this thread; std::nullopt if nothing is cast.
  static std::optional<ir::DType> dtype();

 private:
  const std::optional<ir::DType> outer_;
};

namespace client {

// The dtype to which a product casts its operands; std::nullopt outside of a scope, or if an operand is f64 or not a
// float. Null pointers are skipped.
std::optional<ir::DType> product_dtype(std::initializer_list<const Value*> operands);

// The dtype to which floats of different dtypes are cast within a scope; std::nullopt outside of one, or for equal
// dtypes.
std::optional<ir::DType> wider_dtype(ir::DType a, ir::DType b);
inline std::optional<ir::DType> common_dtype(ir::DType a, ir::DType b) {
  return a == b ? std::nullopt : wider_dtype(a, b);
}

}  // namespace client
}  // namespace burn
