// The recurrent network of examples/modern-lstm: its cell, and training on noisy sequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/modern-lstm/train.h"
#include "tests/support/temp_folder.h"

namespace modern_lstm {
namespace {

TEST(Sequences, AreSumsOfTheTwoNumbersBefore) {
  const auto sequences = make_sequences(3, 8, 0, 1);
  ASSERT_EQ(sequences.size(), 3u);
  for (const auto& [numbers, next] : sequences) {
    ASSERT_EQ(numbers.size(), 8u);
    for (std::size_t i = 2; i < 8; ++i) EXPECT_NEAR(numbers[i], numbers[i - 1] + numbers[i - 2], 1e-6);
    EXPECT_NEAR(next, numbers[7] + numbers[6], 1e-6);
    EXPECT_LT(next, 2.7);
  }
  EXPECT_NE(sequences[0].next, sequences[1].next);
  EXPECT_NE(make_sequences(1, 8, 0.1, 1)[0].next, sequences[0].next);
}

TEST(LstmCell, WalksTimeInBothDirections) {
  const Device device{"cpu"};
  device.seed(1);
  const auto cell = LstmCell::init(2, 4, device);
  const auto x = Tensor<3>::random({3, 5, 2}, burn::Distribution::uniform(-1, 1), device);
  const auto there = cell.forward(x, false), back = cell.forward(x.flip({1}), true).flip({1});
  EXPECT_EQ(there.dims(), (std::array<std::int64_t, 3>{3, 5, 4}));
  EXPECT_TRUE(there.all_close(back));
  // The result of a step does not depend on later steps.
  const auto other = Tensor<3>::cat({x.narrow(1, 0, 4), x.narrow(1, 4, 1) + 1}, 1);
  EXPECT_TRUE(cell.forward(other, false).narrow(1, 0, 4).all_close(there.narrow(1, 0, 4)));
  EXPECT_FALSE(cell.forward(other, false).all_close(there));
}

TEST(ModernLstm, LearnsToForetellTheNextNumber) {
  const burn::test::TempFolder folder;
  Options options;
  options.artifacts = folder / "run";
  options.sequences = 400;
  options.length = 6;
  options.epochs = 6;
  options.net = {.hidden = 16, .layers = 1, .dropout = 0};
  options.lr = 1e-2;
  options.renderer = std::make_shared<burn::train::SilentRenderer>();
  const auto trained = train(options);
  // Always predicting the mean has an error of about 0.38.
  EXPECT_LT(trained.error, 0.15);
  EXPECT_NEAR(trained.smallest, 0.1 / 8, 1e-12);
  EXPECT_TRUE(std::filesystem::exists(options.artifacts / "evaluation.jsonl"));
}

}  // namespace
}  // namespace modern_lstm
