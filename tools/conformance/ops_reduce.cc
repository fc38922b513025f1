#include "tools/conformance/typed.h"

namespace burn::conformance {

void add_reduce(OpTable& t) {
#define BURN_CALL_REDUCE(name)                        \
  BURN_CALL(#name, x.name())                          \
  BURN_CALL(#name "_dim", x.name##_dim(c.dim("dim"))) \
  BURN_CALL(#name "_dims", x.name##_dims(c.integers("dims")))
  BURN_CALL_REDUCE(sum)
  BURN_CALL_REDUCE(prod)
  BURN_CALL_REDUCE(max)
  BURN_CALL_REDUCE(min)
  BURN_CALL_REDUCE(mean)
  BURN_CALL_REDUCE(max_abs)
#undef BURN_CALL_REDUCE
  BURN_CALL_RANKED("sum_dims_squeeze", c.x().rank() - c.size("dims"),
                   x.template sum_dims_squeeze<E>(c.integers("dims")))
  BURN_CALL("any", x.any())
  BURN_CALL("all", x.all())
  BURN_CALL("any_dim", x.any_dim(c.dim("dim")))
  BURN_CALL("all_dim", x.all_dim(c.dim("dim")))

#define BURN_CALL_DIM(name) BURN_CALL(#name, x.name(c.dim("dim")))
  BURN_CALL_DIM(argmax)
  BURN_CALL_DIM(argmin)
  BURN_CALL_DIM(max_dim_with_indices)
  BURN_CALL_DIM(min_dim_with_indices)
  BURN_CALL_DIM(var)
  BURN_CALL_DIM(var_bias)
  BURN_CALL_DIM(var_mean)
  BURN_CALL_DIM(var_mean_bias)
  BURN_CALL_DIM(median)
  BURN_CALL_DIM(median_with_indices)
  BURN_CALL_DIM(logsumexp)
  BURN_CALL_DIM(logcumsumexp)
  BURN_CALL_DIM(cumsum)
  BURN_CALL_DIM(cumprod)
  BURN_CALL_DIM(cummax)
  BURN_CALL_DIM(cummin)
  BURN_CALL_DIM(sort)
  BURN_CALL_DIM(sort_descending)
  BURN_CALL_DIM(sort_with_indices)
  BURN_CALL_DIM(sort_descending_with_indices)
  BURN_CALL_DIM(argsort)
  BURN_CALL_DIM(argsort_descending)
#undef BURN_CALL_DIM
  BURN_CALL("topk", x.topk(c.integer("k"), c.dim("dim")))
  BURN_CALL("topk_with_indices", x.topk_with_indices(c.integer("k"), c.dim("dim")))
  BURN_CALL("argtopk", x.argtopk(c.integer("k"), c.dim("dim")))
  BURN_CALL("cov", x.cov(c.dim("dim"), c.integer("correction")))
}

}  // namespace burn::conformance
