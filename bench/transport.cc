// What crossing to the device costs: a round trip, and tensors in bulk.
#include "bench/bench.h"
#include "client/tensor.h"

namespace burn::bench {
namespace {

constexpr std::int64_t kBulk = 256 << 20;  // bytes

std::vector<double> read_latency(const Context& c) {
  const auto x = Tensor<1>::zeros({1}, c.device);
  c.device.sync();
  return microseconds(repeat(c, [&] { (void)(x + 1).to_data(); }));
}

std::vector<double> upload(const Context& c) {
  const TensorData data(std::vector<float>(kBulk / 4, 1.0f), {kBulk / 4});
  return giga_per_second(repeat(c,
                                [&] {
                                  const auto x = Tensor<1>::from_data(data, c.device);
                                  c.device.sync();
                                }),
                         kBulk);
}

std::vector<double> download(const Context& c) {
  const auto x = Tensor<1>::from_data(TensorData(std::vector<float>(kBulk / 4, 1.0f), {kBulk / 4}), c.device);
  c.device.sync();
  return giga_per_second(repeat(c, [&] { (void)x.to_data(); }), kBulk);
}

}  // namespace

void add_transport(std::vector<Benchmark>& list) {
  list.push_back({"read_latency", "us", "lower", read_latency});
  list.push_back({"upload", "GB/s", "higher", upload});
  list.push_back({"download", "GB/s", "higher", download});
}

}  // namespace burn::bench
