#include <array>

#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::client {

Value matmul(const Value& a, const Value& b, const Site& site) {
  fail_if_empty(a, "matmul: operand 1 of 2", site);
  fail_if_empty(b, "matmul: operand 2 of 2", site);
  if (a.rank() == b.rank() && a.rank() > 2) {  // broadcast the batch dims
    ir::Shape lhs = a.shape(), rhs = b.shape();
    for (int i = 0; i < a.rank() - 2; ++i) {
      if (lhs[i] == 1)
        lhs[i] = rhs[i];
      else if (rhs[i] == 1)
        rhs[i] = lhs[i];
    }
    const auto left = expand(a, lhs, site), right = expand(b, rhs, site);
    return apply(ir::MatMul{}, left, right, site);
  }
  return apply(ir::MatMul{}, a, b, site);
}

Value linear(const Value& x, const Value& weight, const Value* bias, const Site& site) {
  fail_if_empty(x, "linear", site);
  fail_if_empty(weight, "linear: the weight", site);
  if (bias != nullptr) fail_if_empty(*bias, "linear: the bias", site);
  if (x.dim(-1) != weight.dim(0)) {
    fail("linear: the input's last dim is " + std::to_string(x.dim(-1)) + " (" + ir::to_string(x.type()) +
             "), the weight takes " + std::to_string(weight.dim(0)) + " (" + ir::to_string(weight.type()) + ")",
         site);
  }
  // Leading dims are rows of one large product.
  Value rows =
      x.rank() == 2
          ? x
          : reshape(x, ir::Shape{x.type().num_elements() / std::max<std::int64_t>(1, x.dim(-1)), x.dim(-1)}, site);
  Value result = matmul(rows, weight, site);  // [rows, d_out]
  if (bias != nullptr) {
    result = pointwise(ir::PointwiseFn::add, result, reshape(*bias, ir::Shape{1, weight.dim(1)}, site), site);
  }
  if (x.rank() == 2) return result;
  ir::Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.dim(1);
  return reshape(result, shape, site);
}

}  // namespace burn::client
