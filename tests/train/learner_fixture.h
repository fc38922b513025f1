// A small training on the CPU, for tests of the learner's settings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn::test {

using Result = train::TrainingResult<TinyNet>;

// A callback that forwards each event to a function, where one is set.
struct Listening : train::Callback {
  std::function<void(train::Run&)> on_start, on_step, on_validation, on_epoch, on_end;
  std::function<void(train::Run&, const train::WrittenCheckpoint&)> on_checkpoint;

  std::string name() const override { return "Listening"; }
  void start(train::Run& run) override { tell(on_start, run); }
  void step(train::Run& run) override { tell(on_step, run); }
  void validation(train::Run& run) override { tell(on_validation, run); }
  void epoch(train::Run& run) override { tell(on_epoch, run); }
  void end(train::Run& run) override { tell(on_end, run); }
  void checkpoint(train::Run& run, const train::WrittenCheckpoint& written) override {
    if (on_checkpoint) on_checkpoint(run, written);
  }

 private:
  static void tell(const std::function<void(train::Run&)>& body, train::Run& run) {
    if (body) body(run);
  }
};

// Trains TinyNet with 5 batches of 10 items per epoch.
class LearnerTest : public ::testing::Test {
 protected:
  TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<RecordingRenderer> renderer = std::make_shared<RecordingRenderer>();
  std::shared_ptr<Listening> callback = std::make_shared<Listening>();

  train::SupervisedTraining<PointBatch> training(std::size_t workers = 0) {
    const auto [train, valid] = tiny_loaders(device, workers);
    return train::SupervisedTraining(folder / "run", train, valid)
        .metrics(metric::Accuracy{}, metric::Loss{})
        .observe(synchronous_observer(renderer))
        .renderer(std::make_shared<train::SilentRenderer>())
        .callbacks(callback)
        .seed(7)
        .epochs(4);
  }
  train::Learner<TinyNet> learner() {
    device.seed(1);
    return {TinyNet::init(device.autodiff()), optim::AdamConfig{}, lr::Cosine{.initial = 0.05, .steps = 20}};
  }
  // Replaces everything but the folder, as if another process went on with the training.
  void restart() {
    device = Device::new_session("cpu");
    callback = std::make_shared<Listening>();
    renderer = std::make_shared<RecordingRenderer>();
  }
  // The message of the error that launch() throws.
  std::string launch_error(const train::SupervisedTraining<PointBatch>& described) {
    return error_of([&] { (void)described.launch(learner()); });
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder / ("run/checkpoint/" + name)); }
};

inline void expect_same_model(const TinyNet& a, const TinyNet& b) {
  const auto of_b = b.into_record();
  for (const auto& [name, data] : a.into_record()) EXPECT_EQ(data, of_b.get(name)) << name;
}

inline void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.report.reason, b.report.reason);
  ASSERT_EQ(a.report.history.size(), b.report.history.size());
  for (std::size_t i = 0; i < a.report.history.size(); ++i) {
    EXPECT_EQ(a.report.history[i].train, b.report.history[i].train) << "epoch " << i + 1;
    EXPECT_EQ(a.report.history[i].valid, b.report.history[i].valid) << "epoch " << i + 1;
  }
  EXPECT_EQ(a.report.steps, b.report.steps);
  expect_same_model(a.model, b.model);
}

}  // namespace burn::test
