#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

OpFunction filled(int value) {
  return [value](const Call& c) {
    return std::vector{
        client::filled(c.place(), c.dims("shape"), value, ir::parse_dtype(c.text("dtype")).value(), kSite)};
  };
}
OpFunction filled_like(int value) {
  return [value](const Call& c) {
    return std::vector{client::filled(c.place(), c.x().shape(), value, c.x().dtype(), kSite)};
  };
}

// Compares column - row with the offset: which part of a matrix a mask covers.
OpFunction diagonal_mask(Fn fn) {
  return [fn](const Call& c) {
    const auto shape = c.dims("shape");
    const auto line = [&](int axis) {
      ir::Shape s{1, 1};
      s[axis] = shape[axis];
      return client::reshape(client::arange(c.place(), 0, shape[axis], 1, ir::DType::i64, kSite), s, kSite);
    };
    return std::vector{
        client::pointwise(fn, client::pointwise(Fn::sub, line(1), line(0), kSite), c.integer("offset"), kSite)};
  };
}

}  // namespace

void add_creation(OpTable& t) {
  t["zeros"] = filled(0);
  t["ones"] = filled(1);
  t["zeros_like"] = filled_like(0);
  t["ones_like"] = filled_like(1);
  t["full"] = [](const Call& c) {
    return std::vector{
        client::full(c.place(), c.dims("shape"), c.scalar("value"), ir::parse_dtype(c.text("dtype")).value(), kSite)};
  };
  t["full_like"] = [](const Call& c) {
    return std::vector{client::full(c.place(), c.x().shape(), c.scalar("value"), c.x().dtype(), kSite)};
  };
  t["arange"] = [](const Call& c) {
    return std::vector{client::arange(c.place(), c.integer("start"), c.integer("end"), 1, ir::DType::i64, kSite)};
  };
  t["arange_step"] = [](const Call& c) {
    return std::vector{
        client::arange(c.place(), c.integer("start"), c.integer("end"), c.integer("step"), ir::DType::i64, kSite)};
  };
  t["eye"] = [](const Call& c) {
    const auto n = c.integer("size");
    const auto numbers = client::arange(c.place(), 0, n, 1, ir::DType::i64, kSite);
    const auto same = client::pointwise(Fn::equal, client::reshape(numbers, {n, 1}, kSite),
                                        client::reshape(numbers, {1, n}, kSite), kSite);
    return std::vector{client::cast(same, ir::DType::f32, kSite)};
  };
  t["tril_mask"] = diagonal_mask(Fn::greater);
  t["triu_mask"] = diagonal_mask(Fn::lower);
  t["diag_mask"] = diagonal_mask(Fn::not_equal);
  t["one_hot"] = [](const Call& c) { return std::vector{client::one_hot(c.x(), c.integer("num_classes"), kSite)}; };
}

}  // namespace burn::conformance
