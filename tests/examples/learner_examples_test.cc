// The learner's examples at a small size: each one learns.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/custom-loop/loop.h"
#include "examples/custom-renderer/dots.h"
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

TEST(CustomRenderer, ShowsALineOfDotsForEachEpoch) {
  const test::TempFolder folder;
  std::ostringstream out;
  const auto accuracy =
      custom_renderer::train({.artifacts = folder / "run", .epochs = 2, .train_images = 400, .test_images = 100}, out);
  EXPECT_GT(accuracy, 30);
  const std::string number = "[0-9.]+";
  const auto line = [&](const std::string& epoch) {
    return "epoch " + epoch + "/2  train [.]{10}  valid [.]{10}  valid loss " + number + " acc " + number +
           " %  [(]train loss " + number + " acc " + number + " %[)]\n";
  };
  EXPECT_THAT(out.str(), ::testing::ContainsRegex("^" + line("1") + line("2") + "train Loss: from "));
}

TEST(Wgan, DrawsPointsNearTheRing) {
  const test::TempFolder folder;
  const auto trained = wgan::train({.artifacts = folder / "run", .epochs = 20, .points = 10'000, .batch_size = 100});
  ASSERT_EQ(trained.distances.size(), 20U);
  EXPECT_LT(trained.distances.back(), 0.3);
  EXPECT_GT(trained.least, 10);
}

}  // namespace
}  // namespace burn
