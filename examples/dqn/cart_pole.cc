#include "examples/dqn/cart_pole.h"

#include <cmath>
#include <numbers>

namespace dqn {
namespace {

constexpr double kGravity = 9.8, kCartMass = 1.0, kPoleMass = 0.1;
constexpr double kMass = kCartMass + kPoleMass;
constexpr double kHalfLength = 0.5;  // of the pole
constexpr double kForce = 10;
constexpr double kMaxPlace = 2.4, kMaxAngle = 12 * 2 * std::numbers::pi / 360;

}  // namespace

State CartPole::state() const {
  return {static_cast<float>(x_), static_cast<float>(x_speed_), static_cast<float>(angle_),
          static_cast<float>(angle_speed_)};
}

void CartPole::reset() {
  std::uniform_real_distribution<double> near_zero(-0.05, 0.05);
  for (double* number : {&x_, &x_speed_, &angle_, &angle_speed_}) *number = near_zero(rng_);
  steps_ = 0;
}

CartPole::Step CartPole::step(int action) {
  const double force = action == 1 ? kForce : -kForce;
  const double cosine = std::cos(angle_), sine = std::sin(angle_);
  const double pushed = (force + kPoleMass * kHalfLength * angle_speed_ * angle_speed_ * sine) / kMass;
  const double angle_acceleration =
      (kGravity * sine - cosine * pushed) / (kHalfLength * (4.0 / 3 - kPoleMass * cosine * cosine / kMass));
  const double acceleration = pushed - kPoleMass * kHalfLength * angle_acceleration * cosine / kMass;
  x_ += kSecondsPerStep * x_speed_;
  x_speed_ += kSecondsPerStep * acceleration;
  angle_ += kSecondsPerStep * angle_speed_;
  angle_speed_ += kSecondsPerStep * angle_acceleration;
  ++steps_;
  const bool is_fallen = std::abs(x_) > kMaxPlace || std::abs(angle_) > kMaxAngle;
  return {state(), 1, is_fallen, !is_fallen && steps_ >= kMaxSteps};
}

}  // namespace dqn
