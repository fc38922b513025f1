// The replay buffer: recent transitions, from which training draws at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "examples/dqn/cart_pole.h"

namespace dqn {

struct Transition {
  State state;
  int action;
  float reward;
  State next;
  bool is_final;  // the episode ended: no reward follows
};

// The last `capacity` transitions.
class Replay {
 public:
  explicit Replay(std::size_t capacity) : capacity_(capacity) {}

  void add(const Transition& transition) {
    if (all_.size() < capacity_)
      all_.push_back(transition);
    else
      all_[oldest_] = transition;
    oldest_ = (oldest_ + 1) % capacity_;
  }
  std::size_t size() const { return all_.size(); }
  // Requires: at least one transition.
  const Transition& draw(std::mt19937_64& rng) const {
    return all_[std::uniform_int_distribution<std::size_t>(0, all_.size() - 1)(rng)];
  }

 private:
  std::size_t capacity_, oldest_ = 0;
  std::vector<Transition> all_;
};

}  // namespace dqn
