#include <array>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::client {

Value matmul(const Value& a, const Value& b, const Site& site) {
  fail_if_empty(a, "matmul: operand 1 of 2", site);
  fail_if_empty(b, "matmul: operand 2 of 2", site);
  if (const auto low = product_dtype({&a, &b}); low && (a.dtype() != *low || b.dtype() != *low)) {
    return matmul(cast(a, *low, site), cast(b, *low, site), site);
  }
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

Value linear(const Value& x, const Value& weight, const Value* bias, const Site& site, LinearLayout layout) {
  fail_if_empty(x, "linear", site);
  fail_if_empty(weight, "linear: the weight", site);
  if (bias != nullptr) fail_if_empty(*bias, "linear: the bias", site);
  const bool is_row = layout == LinearLayout::row;
  const auto d_input = weight.dim(is_row ? 0 : 1), d_output = weight.dim(is_row ? 1 : 0);
  if (x.dim(-1) != d_input) {
    fail("linear: the input's last dim is " + std::to_string(x.dim(-1)) + " (" + ir::to_string(x.type()) +
             "), the weight takes " + std::to_string(d_input) + " (" + ir::to_string(weight.type()) + ")",
         site);
  }
  if (const auto low = product_dtype({&x, &weight, bias})) {
    const Autocast pause{ir::DType::f32};
    const Value narrow_bias = bias != nullptr ? cast(*bias, *low, site) : Value{};
    return linear(cast(x, *low, site), cast(weight, *low, site), bias != nullptr ? &narrow_bias : nullptr, site,
                  layout);
  }
  // Leading dims become rows of one large product.
  Value rows =
      x.rank() == 2
          ? x
          : reshape(x, ir::Shape{x.type().num_elements() / std::max<std::int64_t>(1, x.dim(-1)), x.dim(-1)}, site);
  Value result = matmul(rows, is_row ? weight : swap_dims(weight, 0, 1, site), site);  // [rows, d_output]
  // Reshaped before the bias is added, so that the sum is fused with the ops after it.
  if (x.rank() != 2) {
    ir::Shape shape = x.shape();
    shape[shape.rank() - 1] = d_output;
    result = reshape(result, shape, site);
  }
  if (bias == nullptr) return result;
  ir::Shape line = ir::Shape::filled(x.rank(), 1);
  line[x.rank() - 1] = d_output;
  return pointwise(ir::PointwiseFn::add, result, reshape(*bias, line, site), site);
}

}  // namespace burn::client
