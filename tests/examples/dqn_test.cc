// The cart with a pole of examples/dqn: its mechanics, and a network that learns to balance it.
#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "examples/dqn/replay.h"
#include "examples/dqn/train.h"

namespace dqn {
namespace {

TEST(CartPole, FallsToTheLeftWhenThePolesFootIsPushedToTheRight) {
  CartPole cart{1};
  CartPole::Step step{};
  do step = cart.step(1);
  while (!step.is_over());
  EXPECT_TRUE(step.is_fallen);
  EXPECT_LT(step.state[2], -12 * 3.14159 / 180);
  EXPECT_GT(step.state[1], 0);
  EXPECT_LT(cart.steps(), 15);
}

TEST(CartPole, MovesAsTheEquationsSay) {
  CartPole cart{7};
  const auto before = cart.state();
  const auto after = cart.step(0).state;
  EXPECT_FLOAT_EQ(after[0], before[0] + 0.02f * before[1]);
  EXPECT_FLOAT_EQ(after[2], before[2] + 0.02f * before[3]);
  // With an upright pole at rest, a push of 10 N accelerates the cart by 9.756 m/s^2, not 10 / 1.1, as the pole reacts
  // (Barto et al. 1983).
  EXPECT_NEAR((after[1] - before[1]) / 0.02f, -9.756, 0.1);
}

TEST(CartPole, StaysUpWhenPushedTheWayItFalls) {
  CartPole cart{3};
  CartPole::Step step{cart.state(), 0, false, false};
  while (!step.is_over()) step = cart.step(step.state[2] + step.state[3] > 0 ? 1 : 0);
  EXPECT_TRUE(step.is_cut_short || cart.steps() > 150);
}

TEST(Replay, KeepsTheLastTransitions) {
  Replay replay{3};
  std::mt19937_64 rng{1};
  for (int i = 0; i < 5; ++i) replay.add({{}, i, 0, {}, false});
  EXPECT_EQ(replay.size(), 3u);
  for (int i = 0; i < 50; ++i) EXPECT_GE(replay.draw(rng).action, 2);
}

TEST(Dqn, LearnsToBalanceThePole) {
  Options options;
  options.steps = 12'000;
  options.environments = 16;
  options.warmup = 500;
  options.batch = 64;
  options.explore_steps = 5'000;
  options.lr = 2e-3;
  std::ostringstream out;
  const auto trained = train(options, out);
  EXPECT_THAT(out.str(), ::testing::HasSubstr("exploring 0.05"));
  // With random pushes the pole falls after about 20 steps.
  EXPECT_GT(play(trained.net, "cpu", 10, 99), 100);
}

TEST(Dqn, RefusesOptionsThatCannotBe) {
  std::ostringstream out;
  EXPECT_THROW((void)train({.batch = 128, .replay = 64}, out), burn::Error);
  EXPECT_THROW((void)train({.environments = 0}, out), burn::Error);
}

}  // namespace
}  // namespace dqn
