#include <algorithm>

#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

std::vector<Value> split(const Value& x, std::int64_t axis, const std::vector<std::int64_t>& sizes) {
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (const auto size : sizes) {
    parts.push_back(client::narrow(x, axis, start, size, kSite));
    start += size;
  }
  return parts;
}

std::vector<std::int64_t> pieces(std::int64_t total, std::int64_t size) {
  std::vector<std::int64_t> sizes;
  for (; total > 0; total -= size) sizes.push_back(std::min(size, total));
  return sizes;
}

Value triangle(const Call& c, Fn keep) {
  const Value& x = c.x();
  const auto line = [&](int axis) {
    ir::Shape s = ir::Shape::filled(x.rank(), 1);
    s[axis] = x.dim(axis);
    return client::reshape(client::arange(c.place(), 0, x.dim(axis), 1, ir::DType::i64, kSite), s, kSite);
  };
  const auto offset = client::pointwise(Fn::sub, line(x.rank() - 1), line(x.rank() - 2), kSite);
  const auto kept = client::expand(client::pointwise(keep, offset, c.integer("diagonal"), kSite), x.shape(), kSite);
  return client::select(kept, x, client::constant(c.place(), 0, x.dtype(), kSite), kSite);
}

}  // namespace

void add_shape(OpTable& t) {
  t["reshape"] = [](const Call& c) { return std::vector{client::reshape(c.x(), c.dims("shape"), kSite)}; };
  t["transpose"] = t["t"] = [](const Call& c) { return std::vector{client::swap_dims(c.x(), -2, -1, kSite)}; };
  t["swap_dims"] = [](const Call& c) {
    return std::vector{client::swap_dims(c.x(), c.integer("dim1"), c.integer("dim2"), kSite)};
  };
  t["permute"] = [](const Call& c) { return std::vector{client::permute(c.x(), c.dims("axes"), kSite)}; };
  t["flip"] = [](const Call& c) { return std::vector{client::flip(c.x(), c.integers("axes"), kSite)}; };
  t["flatten"] = [](const Call& c) {
    return std::vector{client::flatten(c.x(), c.integer("start_dim"), c.integer("end_dim"), kSite)};
  };
  t["squeeze"] = [](const Call& c) {
    ir::Dims ones;
    for (int i = 0; i < c.x().rank(); ++i) {
      if (c.x().dim(i) == 1) ones.push_back(i);
    }
    return std::vector{client::squeeze(c.x(), ones, kSite)};
  };
  t["squeeze_dim"] = [](const Call& c) { return std::vector{client::squeeze(c.x(), {c.integer("dim")}, kSite)}; };
  t["squeeze_dims"] = [](const Call& c) { return std::vector{client::squeeze(c.x(), c.dims("dims"), kSite)}; };
  t["unsqueeze_dim"] = [](const Call& c) { return std::vector{client::unsqueeze(c.x(), {c.integer("dim")}, kSite)}; };
  t["unsqueeze_dims"] = [](const Call& c) { return std::vector{client::unsqueeze(c.x(), c.dims("dims"), kSite)}; };
  t["unsqueeze"] = [](const Call& c) {
    ir::Dims leading;
    for (int i = 0; i < c.integer("rank") - c.x().rank(); ++i) leading.push_back(i);
    return std::vector{client::unsqueeze(c.x(), leading, kSite)};
  };
  t["expand"] = [](const Call& c) { return std::vector{client::expand(c.x(), c.dims("shape"), kSite)}; };
  t["repeat"] = [](const Call& c) { return std::vector{client::repeat(c.x(), c.dims("sizes"), kSite)}; };
  t["repeat_dim"] = [](const Call& c) {
    ir::Dims times = ir::Dims::filled(c.x().rank(), 1);
    times[client::normalize_axis(c.integer("dim"), c.x().rank(), "repeat_dim", kSite)] = c.integer("times");
    return std::vector{client::repeat(c.x(), times, kSite)};
  };
  t["cat"] = [](const Call& c) { return std::vector{client::concat(c.all(), c.integer("dim"), kSite)}; };
  t["stack"] = [](const Call& c) { return std::vector{client::stack(c.all(), c.integer("dim"), kSite)}; };
  t["chunk"] = [](const Call& c) {
    const auto size = c.x().dim(static_cast<int>(c.integer("dim")));
    const auto piece = std::max<std::int64_t>(1, (size + c.integer("chunks") - 1) / c.integer("chunks"));
    return split(c.x(), c.integer("dim"), pieces(size, piece));
  };
  t["split"] = [](const Call& c) {
    return split(c.x(), c.integer("dim"),
                 pieces(c.x().dim(static_cast<int>(c.integer("dim"))), c.integer("split_size")));
  };
  t["split_with_sizes"] = [](const Call& c) { return split(c.x(), c.integer("dim"), c.integers("sizes")); };
  t["narrow"] = [](const Call& c) {
    return std::vector{client::narrow(c.x(), c.integer("dim"), c.integer("start"), c.integer("length"), kSite)};
  };
  t["slice"] = [](const Call& c) { return std::vector{client::slice(c.x(), c.ranges("slices"), kSite)}; };
  t["slice_assign"] = [](const Call& c) {
    return std::vector{client::slice_assign(c.x(0), c.ranges("slices"), c.x(1), kSite)};
  };
  t["slice_fill"] = [](const Call& c) {
    const auto part = client::slice(c.x(), c.ranges("slices"), kSite).shape();
    return std::vector{client::slice_assign(
        c.x(), c.ranges("slices"), client::full(c.place(), part, c.scalar("value"), c.x().dtype(), kSite), kSite)};
  };
  t["slice_dim"] = [](const Call& c) {
    std::vector<client::Range> ranges(
        static_cast<std::size_t>(client::normalize_axis(c.integer("dim"), c.x().rank(), "slice_dim", kSite)) + 1);
    ranges.back() = c.range("slice");
    return std::vector{client::slice(c.x(), ranges, kSite)};
  };
  t["select_dim"] = [](const Call& c) {
    const int axis = client::normalize_axis(c.integer("dim"), c.x().rank(), "select_dim", kSite);
    const auto index = c.integer("index") < 0 ? c.integer("index") + c.x().dim(axis) : c.integer("index");
    return std::vector{client::squeeze(client::narrow(c.x(), axis, index, 1, kSite), {axis}, kSite)};
  };
  t["triu"] = [](const Call& c) { return std::vector{triangle(c, Fn::greater_equal)}; };
  t["tril"] = [](const Call& c) { return std::vector{triangle(c, Fn::lower_equal)}; };
}

}  // namespace burn::conformance
