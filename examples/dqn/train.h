// Deep Q-learning (Mnih et al., Nature 518, 2015) of the cart with a pole, with the target of double Q-learning (van
// Hasselt, Guez and Silver, arXiv:1509.06461).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "examples/dqn/model.h"

namespace dqn {

struct Options {
  std::string device = "cpu";
  std::int64_t steps = 40'000;  // of the cart, over all environments
  std::int64_t environments = 8;
  std::int64_t batch = 128;      // transitions that each step of the optimizer learns from
  std::int64_t replay = 20'000;  // transitions that are kept
  std::int64_t warmup = 1000;    // steps at random before learning begins
  double lr = 1e-3;              // at first; falls in a straight line to a hundredth of it
  double gamma = 0.99;           // what a reward is worth one step later
  double tau = 0.02;             // how far the target network goes toward the trained one in a step
  double explore_first = 1, explore_last = 0.05;
  std::int64_t explore_steps = 10'000;  // in which the share of random actions falls
  std::uint64_t seed = 1;
};

struct Trained {
  QNet net;
  double reward = 0;  // the mean of the last 100 episodes of the training
};

// Says ten times how far it is. Errors: options that cannot be.
Trained train(const Options& options, std::ostream& out);

// The mean reward of episodes in which the network's best actions are taken, of at most CartPole::kMaxSteps.
double play(const QNet& net, const Device& device, std::int64_t episodes, std::uint64_t seed);

}  // namespace dqn
