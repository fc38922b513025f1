// Checkpoints on disk, and which of them are kept.
#include "train/checkpoint/checkpoint.h"

#include <array>
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/epoch_history.h"
#include "train/learner/checkpoint_strategy.h"
#include "train/learner/options.h"

namespace burn::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Checkpoint checkpoint(std::int64_t epoch, bool interrupted = false) {
  Checkpoint made;
  made.state = {.epoch = epoch,
                .interrupted = interrupted,
                .seed = static_cast<std::int64_t>(0xfedcba9876543210),
                .metrics = {"Loss"}};
  made.model.insert("weight", TensorData{std::vector<float>{static_cast<float>(epoch)}, {1}});
  made.metrics = to_record({{1, {0.1}, {0.2}}});
  made.scheduler = "{}";
  return made;
}

TEST(Checkpoints, AreThereUntilOthersAreToBeKept) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  for (int epoch = 1; epoch <= 5; ++epoch) store.save(checkpoint(epoch));
  store.keep_only(std::array<std::int64_t, 3>{2, 4, 5});
  EXPECT_THAT(store.epochs(), ElementsAre(2, 4, 5));
  const auto loaded = store.load(std::nullopt);
  EXPECT_EQ(loaded.state.epoch, 5);
  EXPECT_EQ(loaded.state.seed, static_cast<std::int64_t>(0xfedcba9876543210));
  EXPECT_EQ(loaded.model.get("weight").to_vec<float>()[0], 5.0f);
  EXPECT_EQ(history_from_record(loaded.metrics).at(0).valid.at(0), 0.2);
  EXPECT_EQ(store.load(4).state.epoch, 4);
  EXPECT_EQ(store.load_model(2).get("weight").to_vec<float>()[0], 2.0f);
  EXPECT_THROW((void)store.load_model(3), Error);
}

TEST(Checkpoints, OfAnInterruptionAreTheLatestUntilTheEpochIsOver) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  store.save(checkpoint(1));
  store.save(checkpoint(2, true));
  store.save(checkpoint(2, true));  // replaces the previous one
  EXPECT_TRUE(store.load(std::nullopt).state.interrupted);
  EXPECT_FALSE(store.load(1).state.interrupted);
  store.save(checkpoint(2));
  EXPECT_FALSE(store.load(std::nullopt).state.interrupted);
}

TEST(Checkpoints, ThatAreNotThereAreAnErrorThatNamesThoseThatAre) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  EXPECT_THROW((void)store.load(std::nullopt), Error);
  store.save(checkpoint(1));
  store.save(checkpoint(2));
  try {
    (void)store.load(7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no checkpoint of epoch 7"));
    EXPECT_THAT(error.what(), HasSubstr("1, 2"));
  }
}

TEST(Checkpoints, AHalfWrittenOneIsNotSeen) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  store.save(checkpoint(1));
  std::filesystem::create_directories(folder / "checkpoint/.epoch-2.new");  // the machine stopped while writing
  EXPECT_EQ(store.load(std::nullopt).state.epoch, 1);
  store.save(checkpoint(2));
  EXPECT_EQ(store.load(std::nullopt).state.epoch, 2);
}

void overwrite(const std::filesystem::path& path, const std::string& text, std::size_t at = 0) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file << text;
}

TEST(Checkpoints, ThatAreDamagedGiveWayToTheNewestThatIsWhole) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  for (int epoch = 1; epoch <= 4; ++epoch) store.save(checkpoint(epoch));
  store.save(checkpoint(5, true));
  const auto model_of = [&](const char* name) { return folder / "checkpoint" / name / "model.safetensors"; };
  overwrite(model_of("interrupted"), "x", std::filesystem::file_size(model_of("interrupted")) - 1);  // the last byte
  std::filesystem::resize_file(model_of("epoch-4"), 20);
  std::filesystem::remove(folder / "checkpoint/epoch-3/state.json");

  std::vector<std::string> warnings;
  const auto loaded = store.load(std::nullopt, [&](const std::string& why) { warnings.push_back(why); });
  EXPECT_EQ(loaded.state.epoch, 2);
  EXPECT_EQ(loaded.model.get("weight").to_vec<float>()[0], 2.0f);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_THAT(warnings[0], HasSubstr("interrupted/model.safetensors is damaged: its checksum"));
  EXPECT_THAT(warnings[1], HasSubstr("epoch-4/model.safetensors is damaged: it has 20 bytes"));
  EXPECT_THAT(warnings[2], HasSubstr("epoch-3/state.json is damaged: it is gone"));
  // A checkpoint requested by epoch has no substitute: if it is damaged, that is an error.
  EXPECT_THAT(test::error_of([&] { (void)store.load(4); }), HasSubstr("epoch-4/model.safetensors is damaged"));
}

TEST(Checkpoints, OfWhichNoneIsWholeAreAnErrorThatSaysSoOfEach) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  for (int epoch = 1; epoch <= 2; ++epoch) store.save(checkpoint(epoch));
  for (const auto* name : {"epoch-1", "epoch-2"}) overwrite(folder / "checkpoint" / name / "scheduler.json", "!");
  const auto message = test::error_of([&] { (void)store.load(std::nullopt); });
  EXPECT_THAT(message, HasSubstr("is whole"));
  EXPECT_THAT(message, HasSubstr("epoch-1/scheduler.json"));
  EXPECT_THAT(message, HasSubstr("epoch-2/scheduler.json"));
}

TEST(Checkpoints, WithoutChecksumsAreReadAsTheyAre) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  store.save(checkpoint(1));
  std::filesystem::remove(folder / "checkpoint/epoch-1/checksums");
  EXPECT_EQ(store.load(std::nullopt).state.epoch, 1);
}

TEST(Checkpoints, ThatCountWhatCannotBeAreRefused) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  store.save(checkpoint(1));
  const auto refused = [&](const TrainingState& state) {
    std::filesystem::remove(folder / "checkpoint/epoch-1/checksums");
    state.save(folder / "checkpoint/epoch-1/state.json");
    return test::error_of([&] { (void)store.load(1); });
  };
  EXPECT_THAT(refused({.epoch = INT64_MAX}), HasSubstr("the epoch is 9223372036854775807"));
  EXPECT_THAT(refused({.epoch = -1}), HasSubstr("the epoch is -1"));
  EXPECT_THAT(refused({.epoch = 2}), HasSubstr("it is of epoch 2, in the folder of epoch 1"));
  EXPECT_THAT(refused({.epoch = 1, .batches = -3}), HasSubstr("the number of batches is -3"));
  EXPECT_THAT(refused({.epoch = 1, .items = INT64_MAX}), HasSubstr("the number of items is"));
  std::filesystem::create_directories(folder / "checkpoint/epoch-9223372036854775807");
  EXPECT_THAT(store.epochs(), ElementsAre(1));
}

// A limit on file sizes simulates a full disk.
TEST(Checkpoints, ThatDoNotFitOnTheDiskLeaveTheFormerOnesAndNothingElse) {
  const test::TempFolder folder;
  const CheckpointStore store{folder.path()};
  store.save(checkpoint(1));
  auto large = checkpoint(2);
  large.model.insert("large", TensorData::zeros({1 << 18}));
  const rlimit small{1 << 16, RLIM_INFINITY};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto message = test::error_of([&] { store.save(large); });
  const auto again = test::error_of([&] {
    auto other = large;  // replaces an existing checkpoint
    other.state.epoch = 1;
    store.save(other);
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(message, HasSubstr("model.safetensors: File too large"));
  EXPECT_THAT(again, HasSubstr("model.safetensors: File too large"));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "checkpoint"))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, ElementsAre("epoch-1"));
  EXPECT_EQ(store.load(std::nullopt).model.get("weight").to_vec<float>()[0], 1.0f);
  store.save(large);  // there is room again
  EXPECT_EQ(store.load(std::nullopt).state.epoch, 2);
}

std::vector<std::int64_t> kept(const std::vector<CheckpointStrategy>& strategies, const std::vector<double>& losses,
                               const std::vector<double>& accuracies) {
  return kept_epochs(strategies, metrics(), history(losses, accuracies));
}

TEST(CheckpointStrategies, KeepTheLastTheBestOrAll) {
  const std::vector<double> losses{3, 1, 2, 1, 4}, accuracies{10, 20, 90, 30, 40};
  EXPECT_THAT(kept({KeepLast{2}}, losses, accuracies), ElementsAre(4, 5));
  EXPECT_THAT(kept({KeepLast{9}}, losses, accuracies), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(kept({KeepAll{}}, losses, accuracies), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(kept({KeepBest{}}, losses, accuracies), ElementsAre(2, 5));  // the first of two, and the newest
  EXPECT_THAT(kept({KeepBest{.metric = "Accuracy"}}, losses, accuracies), ElementsAre(3, 5));
  EXPECT_THAT(kept({KeepBest{.split = Split::train}}, losses, accuracies), ElementsAre(1, 5));
}

TEST(CheckpointStrategies, TogetherKeepWhatAnyOfThemWants) {
  const std::vector<double> losses{3, 1, 2, 1, 4}, accuracies{90, 20, 10, 30, 40};
  const KeepChosen odd{[](const std::vector<EpochResult>& history) {
    std::vector<std::int64_t> epochs;
    for (const auto& result : history) {
      if (result.epoch % 2 == 1) epochs.push_back(result.epoch);
    }
    return epochs;
  }};
  EXPECT_THAT(kept({KeepLast{1}, KeepBest{}, KeepBest{.metric = "Accuracy"}}, losses, accuracies),
              ElementsAre(1, 2, 5));
  EXPECT_THAT(kept({KeepLast{2}, odd}, losses, accuracies), ElementsAre(1, 3, 4, 5));
}

TEST(CheckpointStrategies, DoNotTakeNaNForTheBest) {
  const double nan = std::nan("");
  EXPECT_THAT(kept({KeepBest{}}, {nan, 2, nan}, {0, 0, 0}), ElementsAre(2, 3));
}

TEST(CheckpointStrategies, ThatCannotBeFollowedAreErrors) {
  const auto message = [](const CheckpointStrategy& strategy) -> std::string {
    try {
      check(strategy, metrics());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(KeepLast{1}), "");
  EXPECT_EQ(message(KeepLast{0}), "checkpoints: KeepLast of 0 epochs, must be 1 or more");
  EXPECT_EQ(message(KeepBest{"Perplexity"}),
            "checkpoints: no metric \"Perplexity\" is measured; there are: Loss, Accuracy");
  EXPECT_EQ(message(KeepChosen{}), "checkpoints: KeepChosen without a function");
}

TEST(CheckpointStrategies, AreWatchedByTheMetricOfEarlyStoppingFirst) {
  TrainingOptions options;
  EXPECT_EQ(watched_metric(options, metrics()).metric, "Loss");
  options.checkpoints = {KeepLast{}, KeepBest{.metric = "Accuracy", .split = Split::train}};
  EXPECT_EQ(watched_metric(options, metrics()).metric, "Accuracy");
  EXPECT_EQ(watched_metric(options, metrics()).split, Split::train);
  options.early_stopping = EarlyStopping{.metric = "Loss"};
  EXPECT_EQ(watched_metric(options, metrics()).metric, "Loss");
  const metric::MetricSet accuracy{{[] { return std::make_unique<metric::Accuracy>(); }}};
  EXPECT_EQ(watched_metric({}, accuracy).metric, "Accuracy");
}

}  // namespace
}  // namespace burn::train
