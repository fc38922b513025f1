#include "compile/codegen/kernel/formulas.h"

#include "base/error.h"
#include "compile/codegen/kernel/prelude.h"

namespace burn::compile::kernel {
namespace prelude {
namespace {

Value of_one(ir::PointwiseFn fn, Value x) {
  switch (fn) {
#define P1(name, forms, kind, value, gradient, doc) \
  case ir::PointwiseFn::name:                       \
    return value;  // NOLINT(misc-redundant-expression): x != x is true of NaN
#define P2(...)
#define P3(...)
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
    default:
      BURN_CHECK(false, "a function of more operands");
  }
  return x;
}

Value of_two(ir::PointwiseFn fn, Value a, Value b) {
  switch (fn) {
#define P1(...)
#define P2(name, method, kind, value, gradient_a, gradient_b, doc) \
  case ir::PointwiseFn::name:                                      \
    return value;
#define P3(...)
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
    default:
      BURN_CHECK(false, "not a function of two operands");
  }
  return a;
}

Value of_three(ir::PointwiseFn fn, Value a, Value b, Value c) {
  switch (fn) {
#define P1(...)
#define P2(...)
#define P3(name, method, kind, value, gradient_a, gradient_b, gradient_c, doc) \
  case ir::PointwiseFn::name:                                                  \
    return value;
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
    default:
      BURN_CHECK(false, "not a function of three operands");
  }
  return a;
}

}  // namespace
}  // namespace prelude

Value apply(ir::PointwiseFn fn, std::span<const Value> operands) {
  BURN_CHECK(operands.size() == static_cast<std::size_t>(ir::row(fn).arity), "as many operands as the function has");
  switch (operands.size()) {
    case 1:
      return prelude::of_one(fn, operands[0]);
    case 2:
      return prelude::of_two(fn, operands[0], operands[1]);
    default:
      return prelude::of_three(fn, operands[0], operands[1], operands[2]);
  }
}

}  // namespace burn::compile::kernel
