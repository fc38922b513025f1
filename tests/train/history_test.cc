// Early stopping, summaries and logs: how the numbers of a training are used.
#include <algorithm>
#include <cmath>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.h"
#include "tests/support/temp_folder.h"
#include "tests/train/epoch_history.h"
#include "train/learner/early_stopping.h"
#include "train/learner/metrics_log.h"

namespace burn::train {
namespace {

using ::testing::HasSubstr;

TEST(EarlyStopping, WaitsForAsManyEpochsAsItHasPatience) {
  const auto measured = metrics();
  const EarlyStopping rule{.metric = "Loss", .split = Split::valid, .patience = 2};
  EXPECT_EQ(why_stop(rule, measured, history({3, 2, 2}, {0, 0, 0})), "");
  EXPECT_EQ(why_stop(rule, measured, history({3, 2, 2, 2.5}, {0, 0, 0, 0})),
            "early stopping: valid Loss has not been better than in epoch 2 (2.0000)");
  EXPECT_EQ(why_stop(rule, measured, history({3, 2, 2, 1.9}, {0, 0, 0, 0})), "");
}

TEST(EarlyStopping, KnowsThatMoreAccuracyIsBetter) {
  const auto measured = metrics();
  const EarlyStopping rule{.metric = "Accuracy", .split = Split::valid, .patience = 1};
  EXPECT_EQ(why_stop(rule, measured, history({1, 1}, {50, 60})), "");
  EXPECT_NE(why_stop(rule, measured, history({1, 1}, {60, 50})), "");
}

TEST(EarlyStopping, DoesNotTakeNaNForAnImprovement) {
  const double nan = std::nan("");
  const auto measured = metrics();
  EXPECT_NE(why_stop({.patience = 2}, measured, history({1, nan, nan}, {0, 0, 0})), "");
  EXPECT_EQ(why_stop({.patience = 2}, measured, history({nan, nan, 1}, {0, 0, 0})), "");
}

TEST(EarlyStopping, NamesTheMetricsThatThereAre) {
  try {
    (void)find_metric({.metric = "Perplexity"}, metrics());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"Perplexity\""));
    EXPECT_THAT(error.what(), HasSubstr("Loss, Accuracy"));
  }
  EXPECT_THROW((void)find_metric({.patience = 0}, metrics()), Error);
}

TEST(Summary, FindsTheExtremesOfEachMetric) {
  const auto table = summarize(history({0.5, 0.25, 0.75}, {10, 30, 20}), metrics());
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(table[2].name, "Loss");
  EXPECT_EQ(table[2].min, "0.2500");
  EXPECT_EQ(table[2].min_epoch, 2);
  EXPECT_EQ(table[2].max_epoch, 3);
  EXPECT_EQ(table[3].max, "30.0 %");
}

TEST(Metrics, AreMeansOverItemsNotOverBatches) {
  metric::Loss loss;
  EXPECT_TRUE(std::isnan(loss.value()));
  loss.add(std::array{1.0f}, 30);
  loss.add(std::array{4.0f}, 10);
  EXPECT_DOUBLE_EQ(loss.value(), 1.75);
  metric::Accuracy accuracy;
  accuracy.add(std::array{29.0f}, 30);
  accuracy.add(std::array{1.0f}, 10);
  EXPECT_DOUBLE_EQ(accuracy.value(), 75);
  EXPECT_EQ(accuracy.format(accuracy.value()), "75.0 %");
}

TEST(Metrics, GoOnFromTheirState) {
  metric::Accuracy first, second;
  first.add(std::array{3.0f}, 7);
  second.load_state(first.state());
  EXPECT_EQ(second.value(), first.value());
  EXPECT_THROW(second.load_state(std::array{1.0}), Error);
}

TEST(MetricsLog, HasALineForEachSplitAndForgetsWhatIsDoneAgain) {
  const test::TempFolder folder;
  auto measured = metrics();
  {
    MetricsLog log{folder / "run", 0};
    for (int epoch = 1; epoch <= 3; ++epoch) {
      EXPECT_EQ(log.write(epoch, Split::train, 1.5, 0.25, measured), "");
      EXPECT_EQ(log.write(epoch, Split::valid, 0.5, 0.25, measured), "");
    }
  }
  const auto lines = [&] {
    const auto text = test::TempFolder::read(folder / "run/metrics.jsonl");
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(), 6);
  EXPECT_THAT(test::TempFolder::read(folder / "run/metrics.jsonl"),
              HasSubstr("{\"epoch\":3,\"split\":\"train\",\"items\":0,"));
  MetricsLog{folder / "run", 2};
  EXPECT_EQ(lines(), 4);
  MetricsLog{folder / "run", 0};
  EXPECT_EQ(lines(), 0);
}

// A limit on file sizes simulates a full disk.
TEST(MetricsLog, WritesLinesThatFoundNoRoomWithTheNextOne) {
  const test::TempFolder folder;
  auto measured = metrics();
  MetricsLog log{folder / "run", 0};
  ASSERT_EQ(log.write(1, Split::train, 1.5, 0.25, measured), "");
  const auto path = folder / "run/metrics.jsonl";
  const auto first = test::TempFolder::read(path);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{first.size() + 10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto told = log.write(2, Split::train, 1.5, 0.25, measured);
  const auto told_again = log.write(3, Split::train, 1.5, 0.25, measured);
  const auto meanwhile = test::TempFolder::read(path);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(told, HasSubstr("metrics.jsonl; its lines are kept until it is possible"));
  EXPECT_EQ(told_again, "");
  EXPECT_EQ(meanwhile, first);
  EXPECT_EQ(log.write(4, Split::train, 1.5, 0.25, measured), "");
  const auto text = test::TempFolder::read(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(text, HasSubstr("\n{\"epoch\":2,"));
}

}  // namespace
}  // namespace burn::train
