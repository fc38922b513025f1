#include "client/fail.h"
#include "client/ops/integer_scalar.h"
#include "client/record/device_state.h"

namespace burn::client {

Value scalar(const Place& place, Scalar value, ir::DType dtype, const Site& site) {
  if (ir::is_integer(dtype))
    value = value.source() == 0 ? integer_to_store(value, dtype, site) : exact_integer(value, dtype, site);
  return Value{place.device->record_scalar(value, dtype), place.autodiff};
}

Value constant(const Place& place, Scalar value, ir::DType dtype, const Site& site) {
  if (value.source() != 0)
    fail("a number given to a captured step differs from call to call and cannot be written into its program", site);
  if (ir::is_integer(dtype)) value = integer_to_store(value, dtype, site);
  return Value{place.device->record(ir::Constant::of_bits(dtype, value.bits(dtype)), {}, site), place.autodiff};
}

Value full(const Place& place, const ir::Shape& shape, Scalar value, ir::DType dtype, const Site& site) {
  return expand(scalar(place, value, dtype, site), shape, site);
}

Value filled(const Place& place, const ir::Shape& shape, Scalar value, ir::DType dtype, const Site& site) {
  return expand(constant(place, value, dtype, site), shape, site);
}

Value arange(const Place& place, std::int64_t start, std::int64_t end, std::int64_t step, ir::DType dtype,
             const Site& site) {
  if (step <= 0) fail("arange: step is " + std::to_string(step) + ", must be positive", site);
  const auto span = Scalar::Whole{end} - start;  // may need more than 64 bits
  if (span > INT64_MAX) {
    fail("arange: from " + std::to_string(start) + " to " + std::to_string(end) + " are too many numbers", site);
  }
  const auto size = span > 0 ? static_cast<std::int64_t>((span + step - 1) / step) : 0;
  // Floats are rounded once, from whole numbers, as f32 cannot represent all positions beyond 2^24 (bf16: 256).
  const auto counted_as = ir::is_floating(dtype) && (step != 1 || start != 0) ? ir::DType::i64 : dtype;
  Value result{place.device->record(ir::Iota{counted_as, size}, {}, site), place.autodiff};
  if (step != 1) result = pointwise(ir::PointwiseFn::mul, result, constant(place, step, counted_as, site), site);
  if (start != 0) result = pointwise(ir::PointwiseFn::add, result, constant(place, start, counted_as, site), site);
  return cast(result, dtype, site);
}

Value commit(const Place& place, const Site& site) {
  return Value{place.device->record(ir::Commit{}, {}, site), place.autodiff};
}

Value kept_if_failed(const Value& x, const Value& old, const Site& site) {
  return select(commit(place_of(x), site), x, old, site);
}

Value random(const Place& place, ir::RandomFn fn, const ir::Shape& shape, ir::DType dtype, const Site& site) {
  return Value{place.device->record_random({.fn = fn, .dtype = dtype, .shape = shape}, site), place.autodiff};
}

Value upload(const Place& place, proto::HostTensor tensor) {
  return Value{place.device->upload(std::move(tensor)), place.autodiff};
}

}  // namespace burn::client
