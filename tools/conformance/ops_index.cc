#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

ir::ScatterFn update_of(const Call& c) {
  const auto text = c.text("update");
  if (text == "add") return ir::ScatterFn::add;
  if (text == "mul") return ir::ScatterFn::mul;
  if (text == "min") return ir::ScatterFn::min;
  if (text == "max") return ir::ScatterFn::max;
  return ir::ScatterFn::assign;
}

}  // namespace

void add_index(OpTable& t) {
  t["gather"] = [](const Call& c) { return std::vector{client::gather(c.x(0), c.integer("dim"), c.x(1), kSite)}; };
  t["scatter"] = [](const Call& c) {
    return std::vector{client::scatter(c.x(0), c.integer("dim"), c.x(1), c.x(2), update_of(c), kSite)};
  };
  t["select"] = [](const Call& c) { return std::vector{client::select_rows(c.x(0), c.integer("dim"), c.x(1), kSite)}; };
  t["select_assign"] = [](const Call& c) {
    return std::vector{client::select_assign(c.x(0), c.integer("dim"), c.x(1), c.x(2), update_of(c), kSite)};
  };
  t["take"] = [](const Call& c) {
    const int axis = client::normalize_axis(c.integer("dim"), c.x().rank(), "take", kSite);
    const auto rows = client::select_rows(c.x(0), axis, client::reshape(c.x(1), {-1}, kSite), kSite);
    ir::Shape shape;
    for (int i = 0; i < axis; ++i) shape.push_back(c.x().dim(i));
    for (const auto size : c.x(1).shape()) shape.push_back(size);
    for (int i = axis + 1; i < c.x().rank(); ++i) shape.push_back(c.x().dim(i));
    return std::vector{client::reshape(rows, shape, kSite)};
  };
  t["mask_where"] = [](const Call& c) { return std::vector{client::select(c.x(1), c.x(2), c.x(0), kSite)}; };
  t["mask_fill"] = [](const Call& c) {
    return std::vector{
        client::select(c.x(1), client::scalar(c.place(), c.scalar("value"), c.x().dtype()), c.x(0), kSite)};
  };
}

}  // namespace burn::conformance
