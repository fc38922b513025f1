#include "client/tensor/untyped.h"

#include <chrono>
#include <ostream>
#include <thread>

#include "base/error.h"
#include "client/fail.h"
#include "client/record/device_state.h"
#include "client/tensor/read_request.h"

namespace burn::client {

void check(const Value& value, int rank, bool is_kind, const char* kind_name) {
  if (value.rank() != rank) {
    throw Error(StatusCode::invalid_argument, ir::to_string(value.type()) + " has rank " +
                                                  std::to_string(value.rank()) + ", a tensor of rank " +
                                                  std::to_string(rank) + " was expected");
  }
  if (!is_kind)
    throw Error(StatusCode::invalid_argument, ir::to_string(value.type()) + " is not a " + kind_name + " tensor");
}

void check_single(const Value& value, const Site& site) {
  fail_if_empty(value, "into_scalar", site);
  if (value.type().num_elements() != 1)
    fail("into_scalar: " + ir::to_string(value.type()) + " has more or less than one element", site);
}

bool is_leaf(const Value& value) { return value.tape()->is_leaf; }

Value from_data(const TensorData& data, const TensorOptions& options, ir::DType default_dtype) {
  return upload(options.place(), data.convert_dtype(options.dtype.value_or(default_dtype)).host_tensor());
}

std::future<TensorData> to_data_async(const Value& value) {
  proto::Session& session = value.device()->session();
  const proto::Burst burst{session};  // the run that makes it, and the question
  const auto id = value.device()->materialise(*value.storage());
  const auto request = std::make_shared<ReadRequest>(value.device());
  auto future = request->future();
  session.read(id, [request](Result<proto::HostTensor> tensor) { request->answer(std::move(tensor)); });
  return future;
}

TensorData to_data(const Value& value) {
  auto data = to_data_async(value);
  // A small answer comes sooner than a sleeping thread wakes. Whoever else wants this core gets it in between.
  constexpr auto kPatience = std::chrono::microseconds(200);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (data.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  return data.get();
}

void print(std::ostream& out, const Value& value) {
  out << "Tensor " << ir::to_string(value.type()) << " on " << value.device()->url() << '\n' << to_data(value);
}

}  // namespace burn::client
