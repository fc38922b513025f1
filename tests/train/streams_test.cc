// Trainings on a stream continue at its position: in the next epoch and after a resume, to the last digit.
#include "data/stream.h"
#include "tests/train/learner_fixture.h"

namespace burn {
namespace {

using test::expect_same;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A stream of points, which differ in each pass; its position is the number of points read.
struct PointStream : data::Stream<test::Point> {
  std::size_t count;
  explicit PointStream(std::size_t points) : count(points) {}

  struct Reader : data::StreamReader<test::Point> {
    std::vector<test::Point> points;
    std::size_t taken;
    Reader(std::vector<test::Point> all, std::size_t first) : points(std::move(all)), taken(first) {}
    std::optional<test::Point> next() override {
      if (taken == points.size()) return std::nullopt;
      return points[taken++];
    }
    std::string position() const override { return std::to_string(taken); }
  };
  std::unique_ptr<data::StreamReader<test::Point>> open(std::size_t pass, const std::string& position) const override {
    return std::make_unique<Reader>(test::points(count, 40 + pass), position.empty() ? 0 : std::stoul(position));
  }
};

class TrainingOnAStream : public test::LearnerTest {
 protected:
  data::DataLoader<test::PointBatch> loader(std::size_t workers = 0) {
    return data::DataLoaderBuilder(test::PointBatcher{device})
        .batch_size(10)
        .num_workers(workers)
        .build(PointStream{73}, 5);
  }
  // 4 epochs of 50 points, so that the passes of 73 points end within epochs.
  train::SupervisedTraining<test::PointBatch> on_stream(const std::string& name, std::size_t workers = 0) {
    return train::SupervisedTraining(folder / name, loader(workers), test::tiny_loaders(device).valid)
        .metrics(metric::Accuracy{}, metric::Loss{})
        .renderer(std::make_shared<train::SilentRenderer>())
        .callbacks(callback)
        .seed(7)
        .epochs(4);
  }
  test::Result whole() { return on_stream("whole").launch(learner()); }
};

TEST_F(TrainingOnAStream, GoesOnWithinAnEpochAsIfItHadNotStopped) {
  const auto expected = whole();
  for (const std::int64_t steps : {1, 4, 7, 9, 16}) {
    for (const std::size_t workers : {0, 2}) {
      restart();
      callback->on_step = [&](train::Run& run) {
        if (run.step() == steps) run.stop("enough");
      };
      const auto first = on_stream("part", workers).launch(learner());
      EXPECT_EQ(first.report.steps, steps);
      restart();
      expect_same(on_stream("part", workers).resume(train::latest).launch(learner()), expected);
    }
  }
}

TEST_F(TrainingOnAStream, GoesOnAfterAnEpochAsIfItHadNotStopped) {
  const auto expected = whole();
  for (const std::int64_t epochs : {1, 2, 3}) {
    restart();
    (void)on_stream("part", 2).epochs(epochs).launch(learner());
    restart();
    expect_same(on_stream("part").resume(train::latest).launch(learner()), expected);
  }
}

TEST_F(TrainingOnAStream, ReadsInAnEpochWhatOneOfFewerBatchesHasLeft) {
  const auto without_dropout = [&] {  // dropout's random numbers depend on the epoch
    auto described = learner();
    described.model.dropout = nn::DropoutConfig{.prob = 0}.init();
    return described;
  };
  const auto whole = on_stream("whole").launch(without_dropout());
  restart();
  const auto limited = on_stream("limited", 2).limit_batches(2).epochs(10).launch(without_dropout());
  EXPECT_EQ(limited.report.steps, 20);
  test::expect_same_model(limited.model, whole.model);
}

TEST_F(TrainingOnAStream, RefusesTheCheckpointOfADataSetAndTheOtherWayRound) {
  (void)on_stream("run").epochs(1).launch(learner());
  restart();
  EXPECT_THAT(launch_error(training().epochs(2).resume(train::latest)),
              AllOf(HasSubstr("at position \"0:50\" of a stream"), HasSubstr("has a data set")));
  (void)training().epochs(1).launch(learner());
  EXPECT_THAT(launch_error(on_stream("run").epochs(2).resume(train::latest)),
              AllOf(HasSubstr("was written with a data set"), HasSubstr("has a stream")));
}

}  // namespace
}  // namespace burn
