// The examples of the learner at small size: each learns.
#include <gtest/gtest.h>

#include "examples/custom-loop/loop.h"
#include "examples/mnist/mnist.h"
#include "examples/wgan/wgan.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

TEST(Mnist, ReadsDigitsCleanAndNoisy) {
  const test::TempFolder folder;
  const auto tested = mnist::train({.artifacts = folder / "run", .train_images = 600, .test_images = 200, .epochs = 6});
  EXPECT_GT(tested.clean, 70);
  EXPECT_GT(tested.noisy, 20);
  EXPECT_LE(tested.noisy, tested.clean + 5);
}

TEST(CustomLoop, Learns) { EXPECT_GT(custom_loop::train({.epochs = 8, .train_images = 600, .test_images = 200}), 0.6); }

TEST(Wgan, DrawsPointsNearTheRing) {
  const test::TempFolder folder;
  const auto distances = wgan::train({.artifacts = folder / "run", .epochs = 8, .points = 4000, .batch_size = 100});
  ASSERT_EQ(distances.size(), 8U);
  EXPECT_LT(distances.back(), 0.7 * distances.front());
}

}  // namespace
}  // namespace burn
