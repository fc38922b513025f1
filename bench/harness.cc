#include <algorithm>

#include "bench/bench.h"
#include "client/record/device_state.h"

namespace burn::bench {

using Clock = std::chrono::steady_clock;

namespace {
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
}  // namespace

std::vector<double> repeat_batched(const Context& context, int inner, const std::function<void()>& body,
                                   const std::function<void()>& settle) {
  constexpr int kWarmUps = 3, kLeast = 5;
  if (context.inner > 0 && inner > 1) inner = context.inner;
  std::vector<double> samples;
  const auto take = [&] {
    const auto start = Clock::now();
    for (int i = 0; i < inner; ++i) body();
    settle();
    return since(start) / inner;
  };
  for (int i = 0; i < kWarmUps; ++i) take();
  const auto nodes = [&] { return static_cast<double>(context.device.state()->stats().nodes_recorded); };
  const auto cpu = cpu_seconds(context.server);
  const auto nodes_before = nodes();
  const auto start = Clock::now();
  while (samples.size() < kLeast || since(start) < context.seconds) samples.push_back(take());
  if (context.cpu) {
    const auto now = cpu_seconds(context.server);
    const auto calls = static_cast<double>(samples.size()) * inner;
    *context.cpu = {
        calls, {(now.own - cpu.own) / calls, (now.server - cpu.server) / calls}, (nodes() - nodes_before) / calls};
  }
  return samples;
}

std::vector<double> repeat(const Context& context, const std::function<void()>& body) {
  return repeat_batched(context, 1, body, [] {});
}

namespace {
std::vector<double> rate(std::vector<double> seconds, double amount) {
  for (auto& s : seconds) s = amount / s;
  return seconds;
}
}  // namespace

std::vector<double> giga_per_second(std::vector<double> seconds, double amount) {
  return rate(std::move(seconds), amount / 1e9);
}
std::vector<double> tera_per_second(std::vector<double> seconds, double amount) {
  return rate(std::move(seconds), amount / 1e12);
}

std::vector<double> microseconds(std::vector<double> seconds) {
  for (auto& s : seconds) s *= 1e6;
  return seconds;
}

}  // namespace burn::bench
