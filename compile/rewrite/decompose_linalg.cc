// What comes of a factorisation, for devices that factor and no more.
#include <array>

#include "compile/rewrite/decompose_rules.h"

namespace burn::compile::decomposition {

// The product of the pivots, in double where the device has it: what they grow to on the way need not fit a float.
Results compose(Composer& to, const ir::Det&, Operands in) {
  const auto x = to.type_of(in[0]);
  const auto factors = to.add_all(ir::Lu{}, in);
  ir::Shape batch = x.shape;
  const auto n = batch.back();
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  ir::Shape lines = batch, kept = batch;
  lines.push_back(n * n);
  kept.push_back(n);
  // Row by row, the diagonal is every (n + 1)th element.
  const int axis = batch.rank();
  auto steps = ir::Dims::filled(axis + 1, 1);
  steps[axis] = n + 1;
  const auto whole = to.add(ir::Reshape{lines}, {factors[0]});
  const auto pivots = to.add(ir::Slice{ir::Dims::filled(axis + 1, 0), kept, steps}, {whole});
  const auto wide = to.widest_float();
  const auto product = to.add(ir::Reduce{ir::ReduceFn::prod, {axis}}, {to.cast(pivots, x.dtype, wide)});
  const auto sign = to.cast(factors[2], x.dtype, wide);
  return {to.cast(to.add(ir::PointwiseFn::mul, {to.add(ir::Reshape{batch}, {product}), sign}), wide, x.dtype)};
}

}  // namespace burn::compile::decomposition
