// Learns to keep a pole on a cart upright.
//
//   dqn --device cpu --steps 40000
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "examples/dqn/train.h"

namespace {

int run(int argc, char** argv) {
  dqn::Options options;
  std::int64_t episodes = 20;
  CLI::App app{"Learns to keep a pole on a cart upright, by deep Q-learning."};
  app.add_option("--device", options.device,
                 "where to compute: cpu, cuda:0, ws://host:port, grpc://host:port, unix:/path")
      ->capture_default_str();
  app.add_option("--steps", options.steps, "steps of the carts, together")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  app.add_option("--environments", options.environments, "carts")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--batch", options.batch, "transitions of a step of the optimizer")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--lr", options.lr, "the learning rate at first")->check(CLI::Range(0.0, 10.0))->capture_default_str();
  app.add_option("--seed", options.seed, "of everything random")->capture_default_str();
  app.add_option("--episodes", episodes, "episodes to play at the end")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto trained = dqn::train(options, std::cout);
  std::cout << fmt::format("reward of the last 100 episodes of the training: {:.1f}\n", trained.reward)
            << fmt::format("reward of {} episodes without exploring: {:.1f}\n", episodes,
                           dqn::play(trained.net, burn::Device{options.device}, episodes, options.seed + 1'000'000));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "dqn: " << error.what() << '\n';
    return 1;
  }
}
