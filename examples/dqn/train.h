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
  std::int64_t steps = 40'000;  // steps of the cart, in total over all environments
  std::int64_t environments = 8;
  std::int64_t batch = 128;      // transitions per optimizer step
  std::int64_t replay = 20'000;  // capacity of the replay buffer, in transitions
  std::int64_t warmup = 1000;    // random steps before learning starts
  double lr = 1e-3;              // initial value; falls linearly to a hundredth of it
  double gamma = 0.99;           // discount factor per step
  double tau = 0.02;             // fraction by which the target network moves toward the trained one per step
  double explore_first = 1, explore_last = 0.05;
  std::int64_t explore_steps = 10'000;  // steps over which the fraction of random actions falls
  std::uint64_t seed = 1;
};

struct Trained {
  QNet net;
  double reward = 0;  // the mean of the last 100 episodes of the training
};

// Trains a network and reports progress about ten times. Errors (thrown): invalid options.
Trained train(const Options& options, std::ostream& out);

// The mean reward of episodes in which the network's best actions are taken, each of at most CartPole::kMaxSteps steps.
double play(const QNet& net, const Device& device, std::int64_t episodes, std::uint64_t seed);

}  // namespace dqn
