// A pole on a cart, to be kept upright by pushing the cart left or right (Barto, Sutton and Anderson, IEEE Trans. Syst.
// Man Cybern. 13, 1983), with the constants of OpenAI Gym's CartPole-v1.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace dqn {

// Position of the cart in m, its velocity, angle of the pole in radians, its angular velocity.
using State = std::array<float, 4>;

class CartPole {
 public:
  static constexpr int kActions = 2;     // left, right
  static constexpr int kMaxSteps = 500;  // an episode ends after this many steps
  static constexpr double kSecondsPerStep = 0.02;

  explicit CartPole(std::uint64_t seed) : rng_(seed) { reset(); }

  State state() const;
  // Starts an episode near the upright position.
  void reset();

  struct Step {
    State state;
    float reward;       // 1 for each step that the pole stays up
    bool is_fallen;     // the pole leans more than 12 degrees, or the cart is more than 2.4 m from the center
    bool is_cut_short;  // kMaxSteps were taken
    bool is_over() const { return is_fallen || is_cut_short; }
  };
  // Pushes for one time step. `action`: 0 left, 1 right. Requires: the episode is not over.
  Step step(int action);
  int steps() const { return steps_; }  // of this episode

 private:
  std::mt19937_64 rng_;
  double x_ = 0, x_speed_ = 0, angle_ = 0, angle_speed_ = 0;
  int steps_ = 0;
};

}  // namespace dqn
