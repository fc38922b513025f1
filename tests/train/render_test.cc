// The text output of a training, to a file and to a terminal.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/render/cli_renderer.h"
#include "train/render/lines.h"

namespace burn::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<ShownValue> kValues{{"loss", "0.1234"}, {"acc", "96.1 %"}};

Progress progress(std::int64_t items, double seconds) {
  return {.epoch = 3,
          .epochs = 10,
          .split = Split::train,
          .items = items,
          .total_items = 8000,
          .seconds = seconds,
          .items_per_second = static_cast<double>(items) / seconds,
          .seconds_left = 65.2,
          .values = kValues};
}

TEST(Lines, OfAnEpochSayLossAndAccuracyOfBothSplits) {
  const EpochSummary summary{
      .epoch = 3, .epochs = 10, .train = kValues, .valid = {{"loss", "0.1010"}, {"acc", "96.9 %"}}};
  EXPECT_EQ(epoch_line(summary), "epoch 3 train loss 0.1234 acc 96.1 % valid loss 0.1010 acc 96.9 %");
}

TEST(Lines, OfProgressSayHowFarHowFastAndHowLong) {
  EXPECT_EQ(progress_line(progress(800, 2.5)),
            "  train   10 %   800/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %");
}

TEST(Lines, OfTheBarFitTheTerminal) {
  EXPECT_EQ(bar_line(progress(4000, 2), 120),
            "epoch 3/10 train [==============>             ]   50 %  loss 0.1234 acc 96.1 %  4000/8000  2000 items/s  "
            "1:06 left");
  for (int columns = 0; columns <= 130; ++columns) {
    EXPECT_LE(bar_line(progress(4000, 2), columns).size(), static_cast<std::size_t>(std::max(columns - 1, 0)));
  }
  EXPECT_THAT(bar_line(progress(4000, 2), 70), HasSubstr("loss 0.1234"));
  EXPECT_THAT(bar_line(progress(4000, 2), 70), Not(HasSubstr("items/s")));
  EXPECT_THAT(bar_line(progress(8000, 2), 120), HasSubstr("=]  100 %"));
}

TEST(Lines, OfTheSummaryNameTheEpochsOfTheExtremes) {
  const std::vector<MetricSummary> table{{Split::train, "Loss", "0.1000", "0.9000", 3, 1},
                                         {Split::valid, "Accuracy", "90.0 %", "98.0 %", 1, 2}};
  EXPECT_EQ(summary_table(table),
            "split  metric           min  epoch         max  epoch\n"
            "train  Loss          0.1000      3      0.9000      1\n"
            "valid  Accuracy      90.0 %      1      98.0 %      2\n");
}

TEST(CliRenderer, WritesPlainLinesToAFile) {
  std::ostringstream out;
  CliRenderer renderer{out};
  for (int step = 1; step <= 100; ++step) renderer.progress(progress(80 * step, 0.25 * step));  // 25 s
  renderer.epoch({.epoch = 3, .epochs = 10, .train = kValues, .valid = kValues});
  renderer.message("early stopping: because");
  EXPECT_EQ(out.str(),
            "  train   10 %   800/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   20 %  1600/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   30 %  2400/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   40 %  3200/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   50 %  4000/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   60 %  4800/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   70 %  5600/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   80 %  6400/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "  train   90 %  7200/8000  320 items/s  1:06 left  loss 0.1234 acc 96.1 %\n"
            "epoch 3 train loss 0.1234 acc 96.1 % valid loss 0.1234 acc 96.1 %\n"
            "early stopping: because\n");
}

TEST(CliRenderer, SaysNothingOfEpochsThatTakeNoTime) {
  std::ostringstream out;
  CliRenderer renderer{out};
  for (int step = 1; step <= 100; ++step) renderer.progress(progress(80 * step, 0.01 * step));
  EXPECT_EQ(out.str(), "");
}

TEST(CliRenderer, RedrawsInPlaceOnATerminalAndNotTooOften) {
  std::ostringstream out;
  CliRenderer renderer{out, {.in_place = true}};
  for (int step = 1; step <= 1000; ++step) renderer.progress(progress(8 * step, 0.001 * step));  // 1 s
  const auto text = out.str();
  const auto drawings = std::count(text.begin(), text.end(), '\r');
  EXPECT_GE(drawings, 9);
  EXPECT_LE(drawings, 12);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  out.str("");
  renderer.epoch({.epoch = 3, .epochs = 10, .train = kValues, .valid = kValues});
  EXPECT_EQ(out.str(), "\r\x1b[Kepoch 3 train loss 0.1234 acc 96.1 % valid loss 0.1234 acc 96.1 %\n");
}

}  // namespace
}  // namespace burn::train
