#include "tools/conformance/typed.h"

namespace burn::conformance {
namespace {

IndexingUpdateOp update(const Call& c) {
  const auto text = c.text("update");
  if (text == "add") return IndexingUpdateOp::add;
  if (text == "mul") return IndexingUpdateOp::mul;
  if (text == "min") return IndexingUpdateOp::min;
  if (text == "max") return IndexingUpdateOp::max;
  return IndexingUpdateOp::assign;
}

Tensor<1, Int> rows(const Call& c) { return Tensor<1, Int>{c.x(1)}; }

}  // namespace

void add_index(OpTable& t) {
  BURN_CALL("gather", x.gather(c.dim("dim"), indices_like(x, c.x(1))))
  BURN_CALL("scatter", x.scatter(c.dim("dim"), indices_like(x, c.x(1)), like(x, c.x(2)), update(c)))
  BURN_CALL("select", x.select(c.dim("dim"), rows(c)))
  BURN_CALL("select_assign", x.select_assign(c.dim("dim"), rows(c), like(x, c.x(2)), update(c)))
  BURN_CALL_RANKED("take", c.x(1).rank(), x.take(c.dim("dim"), Tensor<E, Int>{c.x(1)}))
  BURN_CALL("mask_where", x.mask_where(mask_like(x, c.x(1)), like(x, c.x(2))))
  BURN_CALL("mask_fill", x.mask_fill(mask_like(x, c.x(1)), c.scalar("value")))
  BURN_CALL("mask_select", x.mask_select(mask_like(x, c.x(1))))
  BURN_CALL("argwhere", x.argwhere())
  BURN_CALL("nonzero", x.nonzero())
  BURN_CALL("one_hot", x.one_hot(c.integer("num_classes")))
  BURN_CALL("one_hot_fill",
            x.one_hot_fill(c.integer("num_classes"), c.scalar("on_value"), c.scalar("off_value"), c.dim("axis")))

  // Dispatches on the ranks of two tensors and of the result.
  t["gather_nd"] = [](const Call& c) {
    const auto rank = std::max<std::int64_t>(1, c.x(1).rank() - 1 + c.x(0).rank() - c.x(1).dim(-1));
    return typed(c.x(), [&]<int D, Kind K>(const Tensor<D, K>& x) {
      return ranked(c.x(1).rank(), [&]<int I>() {
        const Tensor<I, Int> indices{c.x(1)};
        return ranked(rank, [&]<int E>() { return values(x.template gather_nd<E>(indices)); });
      });
    });
  };
  t["scatter_nd"] = [](const Call& c) {
    return typed(c.x(), [&]<int D, Kind K>(const Tensor<D, K>& x) {
      return ranked(c.x(1).rank(), [&]<int I>() {
        const Tensor<I, Int> indices{c.x(1)};
        return ranked(c.x(2).rank(),
                      [&]<int V>() { return values(x.scatter_nd(indices, Tensor<V, K>{c.x(2)}, update(c))); });
      });
    });
  };
}

}  // namespace burn::conformance
