#include "client/tensor/transaction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>

#include "client/fail.h"
#include "client/record/device_state.h"
#include "client/tensor/functions.h"

namespace burn::client {
namespace {

struct Asked {
  std::future<TensorData> answer;
  std::chrono::microseconds spin_time;
};

std::vector<Asked> ask(const std::vector<Value>& values) {
  std::vector<Asked> asked;
  asked.reserve(values.size());
  std::deque<proto::Burst> bursts;  // the calls to each device are sent together
  std::vector<const DeviceState*> devices;
  for (const auto& value : values) {
    const DeviceState* device = value.device().get();
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) continue;
    devices.push_back(device);
    bursts.emplace_back(value.device()->session());
  }
  for (const auto& value : values) asked.push_back({to_data_async(value), spin_time_of(value)});
  return asked;
}

std::vector<TensorData> wait_for_all(std::vector<Asked>&& asked) {
  std::vector<TensorData> data;
  data.reserve(asked.size());
  for (auto& [answer, spin_time] : asked) data.push_back(wait_for(std::move(answer), spin_time));
  return data;
}

}  // namespace

std::vector<TensorData> read_all(const std::vector<Value>& values) { return wait_for_all(ask(values)); }

std::future<std::vector<TensorData>> read_all_async(const std::vector<Value>& values) {
  return std::async(std::launch::deferred, [asked = ask(values)]() mutable { return wait_for_all(std::move(asked)); });
}

void check_closeness(const Value& output, const Value& expected, const Site& site) {
  fail_if_empty(output, "check_closeness", site);
  fail_if_empty(expected, "check_closeness", site);
  if (output.shape() != expected.shape()) {
    fail("check_closeness: " + ir::to_string(output.type()) + " and " + ir::to_string(expected.type()), site);
  }
  const auto data = read_all({output, expected});
  const auto got = data[0].to_vec_as<double>(), want = data[1].to_vec_as<double>();
  double largest = 0;
  std::vector<double> distances;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double distance = got[i] == want[i] ? 0 : std::abs(got[i] - want[i]);
    distances.push_back(distance);
    if (!(distance <= largest)) largest = distance;  // also if the distance is NaN
  }
  for (double bound = 1; bound > 0.5e-8; bound /= 10) {
    const auto close = std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= bound; });
    const auto share = distances.empty() ? 100.0 : 100.0 * static_cast<double>(close) / static_cast<double>(got.size());
    std::printf("within %.0e: %6.2f%% of %zu elements\n", bound, share, got.size());
  }
  std::printf("largest distance: %g\n", largest);
}

}  // namespace burn::client
