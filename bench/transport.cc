// The cost of communication with the device: round trips and bulk transfers.
#include <cstdint>
#include <future>
#include <random>
#include <vector>

#include "bench/bench.h"
#include "client/tensor/tensor.h"

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

// Steps that each upload a batch of 16 MiB and multiply it, which takes a GPU about as long as the upload: measures how
// well uploads overlap with computation.
std::vector<double> upload_overlap(const Context& c) {
  const std::int64_t rows = c.gpu ? 4096 : 512, columns = 1024, results = c.gpu ? 8192 : 256;
  const TensorData batch(std::vector<float>(static_cast<std::size_t>(rows * columns), 1.0f), {rows, columns});
  const auto weights = Tensor<2>::random({columns, results}, Distribution::normal(0, 1), c.device);
  Tensor<2> product;
  c.device.sync();
  return microseconds(repeat_batched(
      c, c.gpu ? 50 : 5,
      [&] {
        product = Tensor<2>::from_data(batch, c.device).matmul(weights);
        c.device.flush();
      },
      [&] { c.device.sync(); }));
}

std::vector<double> download(const Context& c) {
  const auto x = Tensor<1>::from_data(TensorData(std::vector<float>(kBulk / 4, 1.0f), {kBulk / 4}), c.device);
  c.device.sync();
  return giga_per_second(repeat(c, [&] { (void)x.to_data(); }), kBulk);
}

// A chain of kChain ops that no peer has seen before: the bits of a counter's hash select the ops.
constexpr int kChain = 256, kPrograms = 16;

Tensor<1> new_chain(Tensor<1> x, const Tensor<1>& y, std::uint64_t serial) {
  std::uint64_t bits = 0;
  for (int i = 0; i < kChain; ++i) {
    if (i % 32 == 0) {  // splitmix64
      bits = serial = serial + 0x9e3779b97f4a7c15;
      bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
      bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
      bits ^= bits >> 31;
    }
    switch (bits & 3) {
      case 0:
        x = x + y;
        break;
      case 1:
        x = x - y;
        break;
      case 2:
        x = x * y;
        break;
      default:
        x = y - x;
        break;
    }
    bits >>= 2;
  }
  return x;
}

// Each program is recorded, hashed, sent, parsed, compiled, run and read back once; several are in flight at a time.
std::vector<double> op_stream_uncached(const Context& c) {
  const auto x = Tensor<1>::ones({8}, c.device), y = Tensor<1>::full({8}, 0.5, c.device);
  c.device.sync();
  static std::uint64_t serial = std::random_device{}();
  auto seconds = repeat(c, [&] {
    std::vector<std::future<TensorData>> results;
    results.reserve(kPrograms);
    for (int i = 0; i < kPrograms; ++i) results.push_back(new_chain(x, y, serial++ << 20).to_data_async());
    for (auto& result : results) (void)result.get();
  });
  for (double& s : seconds) s = kChain * kPrograms / s;
  return seconds;
}

}  // namespace

void add_transport(std::vector<Benchmark>& list) {
  list.push_back({"read_latency", "us", "lower", read_latency});
  list.push_back({"op_stream_uncached", "ops/s", "higher", op_stream_uncached});
  list.push_back({"upload", "GB/s", "higher", upload});
  list.push_back({"upload_overlap", "us", "lower", upload_overlap});
  list.push_back({"download", "GB/s", "higher", download});
}

}  // namespace burn::bench
