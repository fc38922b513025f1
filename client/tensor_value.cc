#include "client/tensor_value.h"

#include <chrono>
#include <ostream>
#include <thread>

#include "base/error.h"
#include "client/device_state.h"
#include "client/fail.h"

namespace burn::client {

void check(const Value& value, int rank, bool is_kind, const char* kind_name) {
  if (value.rank() != rank) {
    throw Error(StatusCode::invalid_argument, ir::to_string(value.type()) + " has rank " + std::to_string(value.rank()) +
                                                  ", a tensor of rank " + std::to_string(rank) + " was expected");
  }
  if (!is_kind) throw Error(StatusCode::invalid_argument, ir::to_string(value.type()) + " is not a " + kind_name + " tensor");
}

void check_single(const Value& value, const Site& site) {
  if (value.type().num_elements() != 1) fail("into_scalar: " + ir::to_string(value.type()) + " has more or less than one element", site);
}

bool is_leaf(const Value& value) { return value.tape()->is_leaf; }

Value from_data(const TensorData& data, const TensorOptions& options, ir::DType default_dtype) {
  return upload(options.place(), data.convert_dtype(options.dtype.value_or(default_dtype)).host_tensor());
}

std::future<TensorData> to_data_async(const Value& value) {
  auto promise = std::make_shared<std::promise<TensorData>>();
  auto future = promise->get_future();
  const proto::Burst burst{value.device()->session()};  // the run that makes it, and the question
  const auto id = value.device()->materialise(*value.storage());
  value.device()->session().read(id, [promise](Result<proto::HostTensor> tensor) {
    if (!tensor.ok()) {
      promise->set_exception(std::make_exception_ptr(Error(tensor.status())));
      return;
    }
    try {
      promise->set_value(TensorData::from_host(*std::move(tensor)));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  });
  return future;
}

TensorData to_data(const Value& value) {
  auto data = to_data_async(value);
  // A small answer comes sooner than a sleeping thread wakes. Whoever else wants this core gets it in between.
  constexpr auto kPatience = std::chrono::microseconds(200);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (data.wait_for(std::chrono::seconds(0)) != std::future_status::ready && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  return data.get();
}

void print(std::ostream& out, const Value& value) {
  out << "Tensor " << ir::to_string(value.type()) << " on " << value.device()->url() << '\n' << to_data(value);
}

}  // namespace burn::client
