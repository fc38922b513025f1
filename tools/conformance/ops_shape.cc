#include "tools/conformance/typed.h"

namespace burn::conformance {
namespace {

PadMode pad_mode(const Call& c) {
  const auto mode = c.text("mode");
  if (mode == "reflect") return PadMode::reflect();
  if (mode == "edge") return PadMode::edge();
  return PadMode::constant(c.has("value") ? c.scalar("value") : Scalar{0});
}

}  // namespace

void add_shape(OpTable& t) {
  BURN_CALL_RANKED("reshape", c.size("shape"), x.template reshape<E>(array_of<E>(c.integers("shape"))))
  BURN_CALL("transpose", x.transpose())
  BURN_CALL("t", x.t())
  BURN_CALL("swap_dims", x.swap_dims(c.dim("dim1"), c.dim("dim2")))
  BURN_CALL("permute", x.permute(array_of<std::remove_cvref_t<decltype(x)>::kRank>(c.integers("axes"))))
  BURN_CALL("movedim", x.movedim(c.integers("src"), c.integers("dst")))
  BURN_CALL("flip", x.flip(c.integers("axes")))
  BURN_CALL("roll", x.roll(c.integers("shifts"), c.integers("dims")))
  BURN_CALL("roll_dim", x.roll_dim(c.integer("shift"), c.dim("dim")))
  BURN_CALL_RANKED("flatten", c.flattened_rank(), x.template flatten<E>(c.dim("start_dim"), c.dim("end_dim")))
  BURN_CALL_RANKED("squeeze", c.squeezed_rank(), x.template squeeze<E>())
  BURN_CALL_RANKED("squeeze_dim", c.x().rank() - 1, x.template squeeze_dim<E>(c.dim("dim")))
  BURN_CALL_RANKED("squeeze_dims", c.x().rank() - c.size("dims"), x.template squeeze_dims<E>(c.integers("dims")))
  BURN_CALL_RANKED("unsqueeze", c.integer("rank"), x.template unsqueeze<E>())
  BURN_CALL_RANKED("unsqueeze_dim", c.x().rank() + 1, x.template unsqueeze_dim<E>(c.dim("dim")))
  BURN_CALL_RANKED("unsqueeze_dims", c.x().rank() + c.size("dims"), x.template unsqueeze_dims<E>(c.integers("dims")))
  BURN_CALL_RANKED("expand", c.size("shape"), x.template expand<E>(array_of<E>(c.integers("shape"))))
  BURN_CALL("repeat", x.repeat(array_of<std::remove_cvref_t<decltype(x)>::kRank>(c.integers("sizes"))))
  BURN_CALL("repeat_dim", x.repeat_dim(c.dim("dim"), c.integer("times")))
  BURN_CALL("unfold", x.unfold(c.dim("dim"), c.integer("size"), c.integer("step")))
  BURN_CALL("pad", x.pad(c.pairs("pads"), pad_mode(c)))
  BURN_CALL("triu", x.triu(c.integer("diagonal")))
  BURN_CALL("tril", x.tril(c.integer("diagonal")))

  BURN_CALL("cat", x.cat(all_like(x, c.all()), c.dim("dim")))
  BURN_CALL("stack", x.stack(all_like(x, c.all()), c.dim("dim")))
  BURN_CALL("chunk", x.chunk(c.integer("chunks"), c.dim("dim")))
  BURN_CALL("split", x.split(c.integer("split_size"), c.dim("dim")))
  BURN_CALL("split_with_sizes", x.split_with_sizes(c.integers("sizes"), c.dim("dim")))
  BURN_CALL("narrow", x.narrow(c.dim("dim"), c.integer("start"), c.integer("length")))
  BURN_CALL("slice", x.slice(c.ranges("slices")))
  BURN_CALL("slice_dim", x.slice_dim(c.dim("dim"), c.range("slice")))
  BURN_CALL("slice_assign", x.slice_assign(c.ranges("slices"), like(x, c.x(1))))
  BURN_CALL("slice_fill", x.slice_fill(c.ranges("slices"), c.scalar("value")))
  BURN_CALL("select_dim", x.select_dim(c.dim("dim"), c.integer("index")))
}

}  // namespace burn::conformance
