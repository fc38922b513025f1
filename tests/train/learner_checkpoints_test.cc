// Checkpoints within epochs, their writer, and trainings that resume from them with the same numbers to the last digit.
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <thread>

#include "client/record/device_state.h"
#include "tests/train/learner_fixture.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/writer.h"

namespace burn {
namespace {

using test::expect_same;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Thrown in the middle of a step, to simulate a process that is killed there.
struct Killed {};

// Stores checkpoints in memory; fails in a range of the calls of save().
struct InMemory : train::Checkpointer {
  std::map<std::string, train::Checkpoint> all;
  std::atomic<std::int64_t> calls = 0;
  std::int64_t fails_from = 1000, fails_until = 1000;

  void save(const std::string& name, const train::Checkpoint& checkpoint) override {
    ++calls;
    if (calls >= fails_from && calls < fails_until) throw Error(StatusCode::unavailable, "no room left");
    auto kept = checkpoint;
    kept.model.wait();
    kept.optimizer.wait();
    all[name] = kept;
  }
  train::Checkpoint load(const std::string& name) const override { return all.at(name); }
  Record load_record(const std::string& name, const std::string& record) const override {
    return record == "model" ? all.at(name).model : all.at(name).more.at(record);
  }
  void remove(const std::string& name) override { all.erase(name); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, checkpoint] : all) names.push_back(name);
    return names;
  }
  std::string place() const override { return "memory"; }
};

class LearnerCheckpoints : public test::LearnerTest {
 protected:
  // Ends a training after `steps` steps by an exception that the learner does not handle.
  template <typename Described, typename Make>
  void kill_after(std::int64_t steps, Described described, Make make) {
    described.observe([this, steps](const train::events::Event&) {
      if (step_ >= steps) throw Killed{};
    });
    callback->on_step = [this](train::Run& run) { step_ = run.step(); };
    step_ = 0;
    EXPECT_THROW((void)described.launch(make()), Killed);
    callback->on_step = {};
  }

 private:
  std::int64_t step_ = 0;
};

TEST_F(LearnerCheckpoints, EverySomeStepsAreWrittenWithinEpochs) {
  std::vector<std::string> written;
  callback->on_checkpoint = [&](train::Run&, const train::WrittenCheckpoint& one) { written.push_back(one.name); };
  const auto memory = std::make_shared<InMemory>();
  std::int64_t expected = 0;
  callback->on_step = [&](train::Run& run) {  // each write ends before the next one is due
    while (memory->calls < expected) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    expected += run.step() % 2 == 0 || run.step() % 5 == 0 ? 1 : 0;
  };
  (void)training()
      .epochs(2)
      .checkpointer(memory)
      .checkpoints(train::EverySteps{.steps = 2, .keep = 2})
      .launch(learner());
  EXPECT_THAT(written, ElementsAre("epoch-1-batch-2", "epoch-1-batch-4", "epoch-1", "epoch-2-batch-1",
                                   "epoch-2-batch-3", "epoch-2"));
  EXPECT_THAT(memory->names(), ElementsAre("epoch-1", "epoch-2", "epoch-2-batch-3"));
}

TEST(CheckpointSchedule, IsDueByStepsAndByTime) {
  using std::chrono::seconds;
  const std::vector<train::CheckpointStrategy> strategies{train::EverySteps{3}, train::EveryTime{seconds{10}}};
  train::CheckpointSchedule schedule{strategies};
  const auto now = train::CheckpointSchedule::Clock::now();
  EXPECT_FALSE(schedule.is_due(2, now));
  EXPECT_TRUE(schedule.is_due(3, now));
  EXPECT_TRUE(schedule.is_due(4, now + seconds{11}));
  schedule.written(now + seconds{11});
  EXPECT_FALSE(schedule.is_due(5, now + seconds{20}));
  EXPECT_TRUE(schedule.is_due(5, now + seconds{21}));
}

// The first steps are compiled, which may take longer than the interval.
TEST(CheckpointSchedule, IsNotDueByTimeBeforeTheThirdStepOfALaunch) {
  using std::chrono::seconds;
  const std::vector<train::CheckpointStrategy> strategies{train::EverySteps{1000}, train::EveryTime{seconds{10}}};
  train::CheckpointSchedule schedule{strategies};
  const auto later = train::CheckpointSchedule::Clock::now() + seconds{60};
  EXPECT_FALSE(schedule.is_due(501, later));
  EXPECT_FALSE(schedule.is_due(502, later));
  EXPECT_TRUE(schedule.is_due(503, later));
}

TEST_F(LearnerCheckpoints, ATrainingThatIsKilledGoesOnFromTheLastOneToTheLastDigit) {
  for (const bool is_ema : {false, true}) {
    for (const std::int64_t accumulation : {1, 2}) {
      const auto described = [&] {
        auto one = training(2).grads_accumulation(accumulation).clip_norm(1).checkpoints(train::EverySteps{.steps = 1});
        if (is_ema) one.ema({.decay = 0.9});
        return one;
      };
      const auto whole = described().launch(learner());
      for (const std::int64_t steps : {1, 3, 4, 8}) {
        kill_after(steps, described(), [this] { return learner(); });
        restart();
        auto more = described();
        // The first write may not have ended when the training is killed.
        if (!train::CheckpointStore{folder / "run"}.is_empty()) more.resume(train::latest);
        const auto resumed = more.launch(learner());
        expect_same(resumed, whole);
        test::expect_same_model(resumed.averaged(), whole.averaged());
        test::expect_same_model(resumed.best().model, whole.best().model);
      }
    }
  }
}

TEST_F(LearnerCheckpoints, ATrainingThatIsToGoOnFromTheLatestIfAnyStartsWithoutOne) {
  const auto whole = training().launch(learner());
  std::filesystem::remove_all(folder / "run");
  EXPECT_THAT(launch_error(training().resume(train::latest)), HasSubstr("no checkpoint in"));
  const auto described = [this] { return training().resume(train::latest_if_any); };
  EXPECT_EQ(described().max_steps(7).launch(learner()).report.steps, 7);
  restart();
  const auto resumed = described().launch(learner());
  expect_same(resumed, whole);
  std::vector<std::int64_t> epochs;
  for (const auto& epoch : renderer->epochs) epochs.push_back(epoch.epoch);
  EXPECT_EQ(epochs.front(), 2);  // epoch 1 is not trained again
}

TEST_F(LearnerCheckpoints, AResumedTrainingMakesNoBatchThatWasUsed) {
  const auto made = std::make_shared<std::vector<std::int64_t>>();
  const auto counting = [this, made](const std::vector<test::Point>& points) {
    made->push_back(static_cast<std::int64_t>(points.size()));
    return test::PointBatcher{device}.batch(points);
  };
  auto builder = data::DataLoaderBuilder(counting).batch_size(10).shuffle(5);
  const auto loader = builder.build(data::InMemDataset<test::Point>(test::points(50, 1)));
  auto described =
      train::SupervisedTraining(folder / "run", loader).observe(test::synchronous_observer(renderer)).epochs(1);
  (void)described.max_steps(3).launch(learner());
  made->clear();
  (void)described.max_steps(5).resume(train::latest).launch(learner());
  EXPECT_EQ(made->size(), 2u);
}

// The checkpoint is edited to be of batch 100,000, so the resumed training must skip that far in the epoch's order.
TEST_F(LearnerCheckpoints, ATrainingGoesOnInALongEpochAtOnce) {
  constexpr std::int64_t kBatches = 100'000;
  auto builder = data::DataLoaderBuilder(test::PointBatcher{device}).batch_size(10).num_workers(2).shuffle(5);
  const auto loader = builder.build(data::InMemDataset<test::Point>(test::points(10 * (kBatches + 5), 1)));
  auto described = train::SupervisedTraining(folder / "run", loader).observe(test::synchronous_observer(renderer));
  (void)described.max_steps(1).launch(learner());
  const auto one = folder / "run/checkpoint/epoch-1-batch-1";
  auto state = train::TrainingState::load(one / "state.json");
  state.batches = kBatches;
  state.save(one / "state.json");
  std::filesystem::remove(one / "checksums");
  std::optional<std::chrono::steady_clock::time_point> first_step;
  callback->on_step = [&](train::Run&) {
    if (!first_step) first_step = std::chrono::steady_clock::now();
  };
  const auto start = std::chrono::steady_clock::now();
  const auto report = described.max_steps(1000).callbacks(callback).resume(train::latest).launch(learner()).report;
  EXPECT_EQ(report.steps, 1 + 5);
  ASSERT_TRUE(first_step.has_value());
  EXPECT_LT(*first_step - start, std::chrono::seconds{2});
}

// The learner holds a snapshot until a step has ended, so that no step starts while only a part of it is held.
TEST(CheckpointWriter, GivesSnapshotsBack) {
  const test::TempFolder folder;
  train::CheckpointWriter writer{train::CheckpointStore{folder.path()}};
  for (const bool is_snapshot : {true, false}) {
    train::CheckpointWriter::Job job{.kind = train::CheckpointKind::epoch, .is_snapshot = is_snapshot};
    job.checkpoint.state = {.version = 2, .epoch = 1};
    writer.write(std::move(job));
    writer.wait();
    const auto outcomes = writer.take_outcomes();
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_EQ(outcomes[0].failure, "");
    EXPECT_EQ(outcomes[0].snapshot.has_value(), is_snapshot);
  }
}

TEST_F(LearnerCheckpoints, ACallbackMayAskForOne) {
  callback->on_step = [](train::Run& run) {
    if (run.step() == 3) run.save_checkpoint();
  };
  std::vector<std::string> written;
  callback->on_checkpoint = [&](train::Run&, const train::WrittenCheckpoint& one) { written.push_back(one.name); };
  (void)training().epochs(1).launch(learner());
  EXPECT_THAT(written, ElementsAre("epoch-1-batch-3", "epoch-1"));
}

TEST_F(LearnerCheckpoints, MayBeKeptElsewhereThanInFiles) {
  const auto whole = training().launch(learner());
  std::filesystem::remove_all(folder / "run");
  const auto memory = std::make_shared<InMemory>();
  (void)training().max_steps(7).checkpointer(memory).launch(learner());
  EXPECT_THAT(memory->names(), ElementsAre("epoch-1", "epoch-2-batch-2"));
  EXPECT_FALSE(exists(""));
  expect_same(training().checkpointer(memory).resume(train::latest).launch(learner()), whole);
}

TEST_F(LearnerCheckpoints, ThatCannotBeWrittenAreAMessageAndTheThirdInARowIsTheEnd) {
  const auto memory = std::make_shared<InMemory>();
  memory->fails_from = 2;
  memory->fails_until = 4;
  const auto result = training().epochs(6).checkpointer(memory).launch(learner());
  EXPECT_EQ(result.report.history.size(), 6u);
  EXPECT_THAT(renderer->messages,
              Contains("the checkpoint epoch-2 could not be written: no room left; training goes on, and the next one "
                       "is tried"));
  EXPECT_THAT(memory->names(), Contains("epoch-6"));
  memory->calls = 0;
  memory->fails_until = 1000;
  EXPECT_THAT(launch_error(training().epochs(20).checkpointer(memory)),
              HasSubstr("as 3 checkpoints in a row could not be written; the last, epoch-4: no room left"));
}

TEST_F(LearnerCheckpoints, OfOtherTrainingsAreRefusedAndSayWhy) {
  (void)training().max_steps(7).ema({}).launch(learner());
  const auto resume = [this] { return training().resume(train::latest); };
  EXPECT_THAT(launch_error(resume().metrics(metric::Loss{})),
              HasSubstr("resume: the checkpoint has the metrics Accuracy, Loss, this training measures Loss"));
  device.seed(1);
  const auto with = [&](const auto& optimizer) {
    return test::error_of(
        [&] { (void)resume().ema({}).launch(train::Learner(test::TinyNet::init(device.autodiff()), optimizer, 0.1)); });
  };
  EXPECT_THAT(with(optim::SgdConfig{}), HasSubstr("the record is of optimizer adam"));
  EXPECT_THAT(test::error_of([&] {
                const std::vector<train::NamedOptimizer> named{{"only", ParamGroup::all(), optim::AdamConfig{}, 0.1}};
                (void)resume().launch(train::Learner(test::TinyNet::init(device.autodiff()), named));
              }),
              HasSubstr("resume: the checkpoint has one optimizer without a name, this training the optimizers only"));
  EXPECT_THAT(test::error_of([&] {
                auto net = test::TinyNet::init(device.autodiff());
                net.hidden = nn::LinearConfig{.d_input = 2, .d_output = 8}.init(device.autodiff());
                net.output = nn::LinearConfig{.d_input = 8, .d_output = 2}.init(device.autodiff());
                (void)resume().launch(train::Learner(net, optim::AdamConfig{}, 0.1));
              }),
              HasSubstr("hidden"));
  (void)training().max_steps(7).launch(learner());
  EXPECT_THAT(launch_error(resume().ema({})), HasSubstr("was written without ema, which this training has"));
}

TEST_F(LearnerCheckpoints, OfANewerVersionAreRefusedEvenWhereThereAreOlderOnes) {
  (void)training().epochs(2).launch(learner());
  const auto state = folder / "run/checkpoint/epoch-2/state.json";
  std::filesystem::remove(folder / "run/checkpoint/epoch-2/checksums");
  std::ofstream(state) << R"({"version":99,"epoch":2,"something_new":1})";
  EXPECT_THAT(launch_error(training().resume(train::latest)),
              HasSubstr("written by a newer version of this library, in format 99; this one reads formats up to 3"));
}

TEST_F(LearnerCheckpoints, OfTheFirstVersionAreRead) {
  const auto whole = training().launch(learner());
  (void)training().epochs(2).launch(learner());
  const auto folder_of_two = folder / "run/checkpoint/epoch-2";
  auto state = train::TrainingState::load(folder_of_two / "state.json");
  std::filesystem::remove(folder_of_two / "checksums");
  std::ofstream(folder_of_two / "state.json")
      << R"({"epoch":2,"interrupted":false,"batches":0,"items":0,"seed":7,"stream_seed":0,"stream_offset":0,)"
      << R"("metrics":["Accuracy","Loss"]})";
  const auto resumed = training().resume(train::latest).launch(learner());
  EXPECT_EQ(resumed.report.history.back().valid, whole.report.history.back().valid);
}

TEST(CheckpointWriter, WritesOnAThreadOfItsOwnAndKeepsWhatIsWanted) {
  const test::TempFolder folder;
  const train::CheckpointStore store{folder.path()};
  {
    train::CheckpointWriter writer{store};
    for (std::int64_t batches = 1; batches <= 3; ++batches) {
      train::CheckpointWriter::Job job{.kind = train::CheckpointKind::within_epoch, .kept_within_epochs = 2};
      job.checkpoint.state = {.version = 2, .epoch = 1, .interrupted = true, .batches = batches, .steps = batches};
      writer.write(std::move(job));
    }
    writer.wait();
    EXPECT_TRUE(writer.is_idle());
    const auto outcomes = writer.take_outcomes();
    ASSERT_EQ(outcomes.size(), 3u);
    EXPECT_EQ(outcomes[2].name, "epoch-1-batch-3");
    EXPECT_EQ(outcomes[2].failure, "");
  }
  EXPECT_EQ(store.load(std::nullopt).state.batches, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint/epoch-1-batch-1"));
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint/epoch-1-batch-2"));
}

}  // namespace
}  // namespace burn
