// Ops that have their own kernels: sorting, scans, gather and scatter, factorisations, transforms.
#include "bench/models.h"

namespace burn::bench {
namespace {

constexpr std::int64_t kRows = 256, kColumns = 4096;

// Milliseconds per call; the operands are on the device already. The result is held in a handle, because a result
// without one when the program is sent is not computed.
template <typename Body>
std::vector<double> milliseconds(const Context& c, const Body& body) {
  decltype(body()) result;
  c.device.sync();
  auto times = microseconds(repeat_batched(
      c, 2,
      [&] {
        result = body();
        c.device.flush();
      },
      [&] { c.device.sync(); }));
  for (auto& time : times) time /= 1000;
  return times;
}

Tensor<2> rows(const Context& c) { return Tensor<2>::random({kRows, kColumns}, Distribution::normal(0, 1), c.device); }
Tensor<2, Int> places(const Context& c) {
  return Tensor<2, Int>::random({kRows, kColumns}, Distribution::uniform(0, kColumns), c.device);
}

}  // namespace

void add_tensor_ops(std::vector<Benchmark>& list) {
  const auto add = [&](const char* name, auto run) { list.push_back({name, "ms", "lower", run}); };
  add("sort", [](const Context& c) {
    const auto x = rows(c);
    return milliseconds(c, [&] { return x.sort_with_indices(1); });
  });
  add("topk", [](const Context& c) {
    const auto x = rows(c);
    return milliseconds(c, [&] { return x.topk_with_indices(16, 1); });
  });
  add("cumsum", [](const Context& c) {
    const auto x = rows(c);
    return milliseconds(c, [&] { return x.cumsum(1); });
  });
  add("gather", [](const Context& c) {
    const auto x = rows(c);
    const auto at = places(c);
    return milliseconds(c, [&] { return x.gather(1, at); });
  });
  add("scatter", [](const Context& c) {
    const auto x = rows(c), values = rows(c);
    const auto at = places(c);
    return milliseconds(c, [&] { return x.scatter(1, at, values); });
  });
  add("fft", [](const Context& c) {
    const auto x = rows(c);
    return milliseconds(c, [&] { return signal::rfft(x, 1); });
  });
  add("svd", [](const Context& c) {
    const auto x = Tensor<3>::random({16, 64, 64}, Distribution::normal(0, 1), c.device);
    return milliseconds(c, [&] { return linalg::svd(x); });
  });
  add("solve", [](const Context& c) {
    const auto a = Tensor<3>::random({16, 128, 128}, Distribution::normal(0, 1), c.device);
    const auto b = Tensor<3>::random({16, 128, 16}, Distribution::normal(0, 1), c.device);
    return milliseconds(c, [&] { return linalg::solve(a, b); });
  });
}

}  // namespace burn::bench
