// burn-soak: a client that a script makes do something for long, hold memory, or ask for more than there is.
//
//   burn-soak train --device ws://localhost:3000 --steps 10000 --report 1000 --wait
//   burn-soak hold --device ws://localhost:3000 --mib 4096
//   burn-soak exhaust --device ws://localhost:3000
//
// Says what it does on stdout, a line each, as it does it. Where it waits, it does so until its stdin ends.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "bench/models.h"

namespace burn::soak {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kMiB = 1 << 20;

template <typename... T>
void say(fmt::format_string<T...> format, T&&... what) {
  fmt::print(format, std::forward<T>(what)...);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void wait_for_the_end() { std::cin.ignore(std::numeric_limits<std::streamsize>::max(), EOF); }

struct Options {
  std::string device = "cpu";
  std::int64_t steps = std::numeric_limits<std::int64_t>::max(), report = 0, mib = 1024;
  double seconds = std::numeric_limits<double>::infinity();
  bool waits = false;
};

// The steps of mlp64_step, whose batch goes to the device each time. A few first that no time is taken of.
int train(const Options& options) {
  constexpr std::int64_t kWarmUp = 50, kBetweenSyncs = 10, kBatch = 64;
  const Device ad = Device::new_session(options.device).autodiff();
  ad.seed(1);
  auto net = bench::Mlp::init(ad);
  auto optim = optim::AdamConfig{}.init<bench::Mlp>();
  const auto [images_data, labels_data] = bench::batch_data<bench::Mlp>(kBatch);
  Tensor<1> loss;
  const auto step = [&] {
    const auto images = Tensor<2>::from_data(images_data, ad);
    const auto targets = Tensor<1, Int>::from_data(labels_data, ad);
    loss = bench::train_step(net, optim, 1e-3, images, targets);
  };
  for (std::int64_t i = 0; i < kWarmUp; ++i) step();
  ad.sync();
  const auto start = Clock::now();
  std::int64_t done = 0;
  while (done < options.steps && since(start) < options.seconds) {
    step();
    ++done;
    if (done % kBetweenSyncs == 0) ad.sync();
    if (options.report > 0 && done % options.report == 0) say("step {}", done);
  }
  ad.sync();
  const auto seconds = since(start);
  const auto last = static_cast<double>(loss.into_scalar<float>());
  say("trained {} steps in {:.2f} s: {:.1f} steps/s, loss {:.6f}", done, seconds, static_cast<double>(done) / seconds,
      last);
  if (options.waits) wait_for_the_end();
  return std::isfinite(last) ? 0 : 1;
}

// Random numbers are in memory for as long as a tensor holds them.
Tensor<1> block(const Device& device, std::int64_t mib) {
  return Tensor<1>::random({mib * kMiB / 4}, Distribution::uniform(0, 1), device);
}

int hold(const Options& options) {
  const Device device = Device::new_session(options.device);
  const auto held = block(device, options.mib);
  device.sync();
  say("holds {} MiB", options.mib);
  wait_for_the_end();
  return 0;
}

// Takes block after block until it is refused, then lets go and sees that its session still computes.
int exhaust(const Options& options) {
  constexpr std::size_t kMax = 1 << 16;
  const Device device = Device::new_session(options.device);
  std::vector<Tensor<1>> blocks;
  std::string refusal;
  while (refusal.empty() && blocks.size() < kMax) {
    try {
      blocks.push_back(block(device, options.mib));
      device.sync();
    } catch (const Error& error) {
      if (error.code() != StatusCode::resource_exhausted) throw;
      refusal = error.what();
    }
  }
  if (refusal.empty()) {
    say("never refused");
    return 1;
  }
  say("refused after {} MiB: {}", static_cast<std::int64_t>(blocks.size() - 1) * options.mib, refusal);
  if (options.waits) wait_for_the_end();
  blocks.clear();
  const auto sum = Tensor<1>::ones({1000}, device).sum().into_scalar<float>();
  say("computes on: {}", sum);
  return sum == 1000 ? 0 : 1;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"A client for tests of a worker that last, or that take its memory."};
  app.require_subcommand(1);
  const CLI::Range from_1{std::int64_t{1}, std::int64_t{1} << 40};
  const auto add = [&](const char* name, const char* what) {
    auto* command = app.add_subcommand(name, what);
    command->add_option("--device", options.device, "Device URL")->capture_default_str();
    return command;
  };
  auto* train_command = add("train", "train a small model");
  train_command->add_option("--steps", options.steps, "How many at most")->check(from_1);
  train_command->add_option("--seconds", options.seconds, "How long at most")->check(CLI::PositiveNumber);
  train_command->add_option("--report", options.report, "Say \"step N\" every so many")->check(from_1);
  train_command->add_flag("--wait", options.waits, "Keep the model at the end, until stdin ends");
  auto* hold_command = add("hold", "hold memory until stdin ends");
  hold_command->add_option("--mib", options.mib, "How much")->check(from_1)->capture_default_str();
  auto* exhaust_command = add("exhaust", "take memory until there is none");
  exhaust_command->add_option("--mib", options.mib, "At a time")->check(from_1)->capture_default_str();
  exhaust_command->add_flag("--wait", options.waits, "Keep it then, until stdin ends");
  CLI11_PARSE(app, argc, argv);
  if (train_command->parsed()) return train(options);
  return hold_command->parsed() ? hold(options) : exhaust(options);
}

}  // namespace
}  // namespace burn::soak

int main(int argc, char** argv) {
  try {
    return burn::soak::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "burn-soak: %s\n", error.what());
    return 1;
  }
}
