// The parts of Tensor<D, K> that do not depend on rank and kind, without templates.
#pragma once

#include <future>
#include <iosfwd>
#include <vector>

#include "client/ops/ops.h"
#include "client/spin.h"
#include "client/tensor/args.h"
#include "client/tensor/data.h"
#include "client/tensor/kind.h"

namespace burn::client {

// Throws unless the value has this rank and its dtype is of the kind. `op`: the function that returned it, if known.
void check(const Value& value, int rank, bool is_kind, const char* kind_name, const char* op = nullptr,
           const Site& site = {});
void check_single(const Value& value, const Site& site);  // throws unless it has one element
// Throws if `data` and `dtype` are integers, and the dtype cannot represent one of the numbers; `what`: the calling
// function, for the message.
void check_whole(const TensorData& data, ir::DType dtype, const char* what, const Site& site);
ir::Dims dims_of(std::span<const std::int64_t> dims, const char* op, const Site& site);  // throws above ir::kMaxRank
std::int64_t dim_size(const Value& value, int dim, const char* op, const Site& site);
bool is_leaf(const Value& value);

template <typename T>
std::vector<Value> values_of(const std::vector<T>& tensors) {
  std::vector<Value> values;
  values.reserve(tensors.size());
  for (const auto& tensor : tensors) values.push_back(tensor.value());
  return values;
}

template <typename Tensor>
std::vector<Tensor> tensors_of(std::vector<Value> values) {
  std::vector<Tensor> tensors;
  tensors.reserve(values.size());
  for (auto& value : values) tensors.emplace_back(std::move(value));
  return tensors;
}

Value from_data(const TensorData& data, const TensorOptions& options, ir::DType default_dtype);
Value random(const ir::Shape& shape, const Distribution& distribution, const TensorOptions& options, const Site& site);

// Sends the recorded ops and requests the numbers; the future holds them, or a burn::Error.
std::future<TensorData> to_data_async(const Value& value);
TensorData to_data(const Value& value);
std::chrono::microseconds spin_time_of(const Value& value);  // how long to spin for it
TensorData wait_for(std::future<TensorData> data, std::chrono::microseconds spin_time = kSpinTime);
// The same numbers on another device: sent by the device that has them (transfer.h), or read and uploaded, unless it is
// the same session. Errors (thrown): a tracked value and another device, as gradients do not flow between devices.
Value to_device(const Value& value, const Device& device, const Site& site);
// As Device::place().
Value placed_on(const Device& device, const Value& x, const SplitAlong& split, const Site& site);
bool can_mut(const Value& value);                   // no other Value holds its numbers
void print(std::ostream& out, const Value& value);  // the numbers, then shape, dtype and device

}  // namespace burn::client
