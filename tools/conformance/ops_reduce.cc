#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

using Red = ir::ReduceFn;

OpFunction over_all(Red fn, bool of_abs = false) {
  return [=](const Call& c) {
    return std::vector{client::reduce_all(fn, of_abs ? client::pointwise(Fn::abs, c.x(), kSite) : c.x(), kSite)};
  };
}
OpFunction over(Red fn, const char* dims, bool of_abs = false) {
  return [=](const Call& c) {
    return std::vector{
        client::reduce(fn, of_abs ? client::pointwise(Fn::abs, c.x(), kSite) : c.x(), c.dims(dims), kSite)};
  };
}
OpFunction with_indices(ir::ArgFn fn) {
  return [fn](const Call& c) {
    const auto index = client::arg_reduce(fn, c.x().detach(), c.integer("dim"), kSite);
    return std::vector{client::gather(c.x(), c.integer("dim"), index, kSite), index};
  };
}
OpFunction arg(ir::ArgFn fn) {
  return [fn](const Call& c) { return std::vector{client::arg_reduce(fn, c.x(), c.integer("dim"), kSite)}; };
}
OpFunction scan(Red fn) {
  return [fn](const Call& c) { return std::vector{client::scan(fn, c.x(), c.integer("dim"), kSite)}; };
}
OpFunction var(std::int64_t correction, bool with_mean) {
  return [=](const Call& c) {
    std::vector<Value> result{client::var(c.x(), {c.integer("dim")}, correction, kSite)};
    if (with_mean) result.push_back(client::mean(c.x(), {c.integer("dim")}, kSite));
    return result;
  };
}

enum class Give { values, indices, both };

// In sorted order: all, or the first k.
OpFunction sorted(bool descending, Give give, bool by_k) {
  return [=](const Call& c) -> std::vector<Value> {
    const auto dim = c.integer("dim");
    const auto [values, indices] = by_k ? client::top_k(c.x(), dim, c.integer("k"), descending, kSite)
                                        : client::sort(c.x(), dim, descending, kSite);
    if (give == Give::indices) return {indices};
    if (give == Give::values) return {values};
    return {values, indices};
  };
}

}  // namespace

void add_reduce(OpTable& t) {
  t["sum"] = over_all(Red::sum);
  t["prod"] = over_all(Red::prod);
  t["max"] = over_all(Red::max);
  t["min"] = over_all(Red::min);
  t["max_abs"] = over_all(Red::max, true);
  t["sum_dim"] = over(Red::sum, "dim");
  t["prod_dim"] = over(Red::prod, "dim");
  t["max_dim"] = over(Red::max, "dim");
  t["min_dim"] = over(Red::min, "dim");
  t["max_abs_dim"] = over(Red::max, "dim", true);
  t["sum_dims"] = over(Red::sum, "dims");
  t["prod_dims"] = over(Red::prod, "dims");
  t["max_dims"] = over(Red::max, "dims");
  t["min_dims"] = over(Red::min, "dims");
  t["max_abs_dims"] = over(Red::max, "dims", true);
  t["sum_dims_squeeze"] = [](const Call& c) {
    return std::vector{client::squeeze(client::reduce(Red::sum, c.x(), c.dims("dims"), kSite), c.dims("dims"), kSite)};
  };
  t["mean"] = [](const Call& c) { return std::vector{client::mean_all(c.x(), kSite)}; };
  t["mean_dim"] = [](const Call& c) { return std::vector{client::mean(c.x(), c.dims("dim"), kSite)}; };
  t["mean_dims"] = [](const Call& c) { return std::vector{client::mean(c.x(), c.dims("dims"), kSite)}; };
  t["argmax"] = arg(ir::ArgFn::max);
  t["argmin"] = arg(ir::ArgFn::min);
  t["max_dim_with_indices"] = with_indices(ir::ArgFn::max);
  t["min_dim_with_indices"] = with_indices(ir::ArgFn::min);
  t["var"] = var(1, false);
  t["var_bias"] = var(0, false);
  t["var_mean"] = var(1, true);
  t["var_mean_bias"] = var(0, true);
  t["cumsum"] = scan(Red::sum);
  t["cumprod"] = scan(Red::prod);
  t["cummax"] = scan(Red::max);
  t["cummin"] = scan(Red::min);
  t["sort"] = sorted(false, Give::values, false);
  t["sort_descending"] = sorted(true, Give::values, false);
  t["sort_with_indices"] = sorted(false, Give::both, false);
  t["sort_descending_with_indices"] = sorted(true, Give::both, false);
  t["argsort"] = sorted(false, Give::indices, false);
  t["argsort_descending"] = sorted(true, Give::indices, false);
  t["topk"] = sorted(true, Give::values, true);
  t["topk_with_indices"] = sorted(true, Give::both, true);
  t["argtopk"] = sorted(true, Give::indices, true);
}

}  // namespace burn::conformance
