#include "client/device_state.h"
#include "client/fail.h"
#include "client/ops.h"

namespace burn::client {

Value scalar(const Place& place, Scalar value, ir::DType dtype) {
  return Value{place.device->record_scalar(value, dtype), place.autodiff};
}

Value constant(const Place& place, Scalar value, ir::DType dtype, const Site& site) {
  if (value.source() != 0) fail("a number given to a captured step differs from call to call and cannot be written into its program", site);
  return Value{place.device->record(ir::Constant{dtype, value.bits(dtype)}, {}, site), place.autodiff};
}

Value full(const Place& place, const ir::Shape& shape, Scalar value, ir::DType dtype, const Site& site) {
  return expand(scalar(place, value, dtype), shape, site);
}

Value filled(const Place& place, const ir::Shape& shape, Scalar value, ir::DType dtype, const Site& site) {
  return expand(constant(place, value, dtype, site), shape, site);
}

Value arange(const Place& place, std::int64_t start, std::int64_t end, std::int64_t step, ir::DType dtype, const Site& site) {
  if (step <= 0) fail("arange: step is " + std::to_string(step) + ", must be positive", site);
  const std::int64_t size = end > start ? (end - start + step - 1) / step : 0;
  Value result{place.device->record(ir::Iota{dtype, size}, {}, site), place.autodiff};
  if (step != 1) result = pointwise(ir::PointwiseFn::mul, result, constant(place, step, dtype, site), site);
  if (start != 0) result = pointwise(ir::PointwiseFn::add, result, constant(place, start, dtype, site), site);
  return result;
}

Value random(const Place& place, ir::RandomFn fn, const ir::Shape& shape, ir::DType dtype, const Site& site) {
  return Value{place.device->record_random(fn, dtype, shape, site), place.autodiff};
}

Value upload(const Place& place, proto::HostTensor tensor) {
  return Value{place.device->upload(std::move(tensor)), place.autodiff};
}

}  // namespace burn::client
