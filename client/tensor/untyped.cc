#include "client/tensor/untyped.h"

#include <ostream>

#include "base/error.h"
#include "client/fail.h"
#include "client/ops/integer_scalar.h"
#include "client/ops/ops.h"
#include "client/record/capture_log.h"
#include "client/record/device_state.h"
#include "client/tensor/read_request.h"
#include "client/tensor/transfer.h"
#include "ir/enums.h"

namespace burn::client {

void check(const Value& value, int rank, bool is_kind, const char* kind_name, const char* op, const Site& site) {
  if (value.rank() == rank && is_kind) [[likely]]
    return;
  std::string message = op != nullptr ? std::string{op} + ": " : "";
  message += ir::to_string(value.type());
  message += value.rank() != rank ? " has rank " + std::to_string(value.rank()) + ", a tensor of rank " +
                                        std::to_string(rank) + " was expected"
                                  : std::string{" is not a "} + kind_name + " tensor";
  if (op != nullptr) fail(message, site);
  throw Error(StatusCode::invalid_argument, message);
}

ir::Dims dims_of(std::span<const std::int64_t> dims, const char* op, const Site& site) {
  if (dims.size() > static_cast<std::size_t>(ir::kMaxRank))
    fail(std::string{op} + ": " + std::to_string(dims.size()) + " dims, more than any tensor has", site);
  return ir::Dims{dims};
}

std::int64_t dim_size(const Value& value, int dim, const char* op, const Site& site) {
  return value.dim(normalize_axis(dim, value, op, site));
}

void check_single(const Value& value, const Site& called) {
  const Site site{called.file,
                  called.line};  // without the name: item() and others call the asynchronous form, the user did not
  fail_if_empty(value, "into_scalar", site);
  if (value.type().num_elements() != 1)
    fail("into_scalar: " + ir::to_string(value.type()) + " has more or less than one element", site);
}

void check_whole(const TensorData& data, ir::DType dtype, const char* what, const Site& site) {
  if (data.dtype() == dtype || !ir::is_integer(data.dtype()) || !ir::is_integer(dtype)) return;
  const auto range = range_of(dtype);
  const auto check = [&]<typename T>(std::span<const T> numbers) {
    for (const T number : numbers) {
      if (range.contains(number)) continue;
      fail(std::string{what} + ": " + std::to_string(number) + " is no " + std::string{ir::name(dtype)} + ", but a " +
               std::string{ir::name(data.dtype())},
           site);
    }
  };
  ir::dispatch(data.dtype(), [&]<typename T>() {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) check(data.as_slice<T>());
  });
}

bool is_leaf(const Value& value) { return value.tape()->is_leaf; }

Value from_data(const TensorData& data, const TensorOptions& options, ir::DType default_dtype) {
  return upload(options.place(), data.convert_dtype(options.dtype.value_or(default_dtype)).host_tensor());
}

std::future<TensorData> to_data_async(const Value& value) {
  proto::Session& session = value.device()->session();
  const proto::Burst burst{session};  // sends the run that computes the tensor and the read together
  const auto id = value.device()->materialise(*value.storage());
  const auto request = std::make_shared<ReadRequest>(value.device(), value.type());
  auto future = request->future();
  session.read(id, [request](Result<proto::HostTensor> tensor) { request->answer(std::move(tensor)); });
  return future;
}

TensorData to_data(const Value& value) { return wait_for(to_data_async(value), spin_time_of(value)); }

std::chrono::microseconds spin_time_of(const Value& value) { return value.device()->spin_time(); }

TensorData wait_for(std::future<TensorData> data, std::chrono::microseconds spin_time) {
  spin_until_ready(data, spin_time);
  return data.get();
}

Value to_device(const Value& value, const Device& device, const Site& site) {
  fail_if_empty(value, "to_device", site);
  const Place place{device.state(), device.is_autodiff()};
  if (place.device == value.device()) {
    if (value.is_autodiff() == place.autodiff) return value;
    return place.autodiff ? value.from_inner() : value.inner();
  }
  if (value.is_tracked()) {
    fail("to_device: " + ir::to_string(value.type()) + " requires a gradient, which does not travel from " +
             value.device()->url() + " to " +
             (value.device()->url() == device.url() ? "another session of it" : device.url()) + "; detach() it first",
         site);
  }
  if (CaptureLog::active() == nullptr) {
    if (auto moved = move_directly(value, place, site)) return *std::move(moved);
  }
  return upload(place, to_data(value).host_tensor());
}

Value placed_on(const Device& device, const Value& x, const SplitAlong& split, const Site& site) {
  fail_if_empty(x, "place", site);
  if (x.device() != device.state()) {
    fail("place: the tensor is on " + x.device()->url() + ", not on " +
             (x.device()->url() == device.url() ? "this session of it" : device.url()),
         site);
  }
  for (const auto mesh : {ir::MeshAxis::data, ir::MeshAxis::model}) {
    if (split.mesh == ir::name(mesh)) return placed(x, split.dim, mesh, "place", site);
  }
  fail("place: a mesh has the axes \"data\" and \"model\", not \"" + std::string{split.mesh} + "\"", site);
}

bool can_mut(const Value& value) {
  return value.has_value() && value.storage()->owners.load(std::memory_order_relaxed) == 1;
}

void print(std::ostream& out, const Value& value) {
  out << "Tensor " << ir::to_string(value.type()) << " on " << value.device()->url() << '\n' << to_data(value);
}

}  // namespace burn::client
