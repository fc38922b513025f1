// Whole trainings of a small model: learning, stopping, resuming.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Result = train::TrainingResult<test::TinyNet>;

// Asks for a stop once validation of `epoch` has shown `items` items. For training, StoppingAfterSteps does that, as
// the display of training lags behind the loop.
struct StoppingRenderer : test::RecordingRenderer {
  train::Interrupter interrupter;
  Split split = Split::train;
  std::int64_t epoch = 0, items = 0;

  void progress(const train::Progress& progress) override {
    RecordingRenderer::progress(progress);
    if (split == Split::valid) stop_if(progress.split == split && progress.epoch == epoch && progress.items >= items);
  }
  void stop_if(bool is_there) const {
    if (is_there) interrupter.stop("enough");
  }
};

struct StoppingAfterSteps : train::Callback {
  std::shared_ptr<StoppingRenderer> renderer;
  explicit StoppingAfterSteps(std::shared_ptr<StoppingRenderer> by) : renderer(std::move(by)) {}
  std::string name() const override { return "StoppingAfterSteps"; }
  void step(train::Run& run) override {
    renderer->stop_if(renderer->split == Split::train && run.epoch() == renderer->epoch &&
                      10 * run.batch() >= renderer->items);
  }
};

class Training : public ::testing::Test {
 protected:
  test::TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<StoppingRenderer> renderer = std::make_shared<StoppingRenderer>();
  lr::ModuleLrScheduler schedule = lr::Cosine{.initial = 0.05, .steps = 20};  // each learner() starts with a copy

  auto training(std::size_t workers = 0) {
    const auto [train, valid] = test::tiny_loaders(device, workers);
    auto training = train::SupervisedTraining(folder / "run", train, valid)
                        .metrics(metric::Accuracy{}, metric::Loss{})
                        .renderer(std::make_shared<train::SilentRenderer>())
                        .observe(test::synchronous_observer(renderer))
                        .interrupter(renderer->interrupter)
                        .callbacks(std::make_shared<StoppingAfterSteps>(renderer))
                        .seed(7)
                        .epochs(4);
    return training;
  }
  train::Learner<test::TinyNet> learner() {
    device.seed(1);
    return {test::TinyNet::init(device.autodiff()), optim::AdamConfig{}, schedule};
  }
  // Interrupts a training in `epoch` once `items` items of a split are done, and resumes it as another process would.
  Result interrupt_and_resume(Split split, std::int64_t epoch, std::int64_t items) {
    renderer->split = split;
    renderer->epoch = epoch;
    renderer->items = items;
    const auto first = training().launch(learner());
    EXPECT_TRUE(first.interrupted());
    // The display lags behind the loop, so the last batches of an epoch may be done before the stop is requested.
    EXPECT_GE(first.report.history.size(), static_cast<std::size_t>(epoch - 1));
    EXPECT_LE(first.report.history.size(), static_cast<std::size_t>(epoch));
    renderer = std::make_shared<StoppingRenderer>();
    device = Device::new_session("cpu");
    return training().resume(train::latest).launch(learner());
  }
};

void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.report.reason, b.report.reason);
  ASSERT_EQ(a.report.history.size(), b.report.history.size());
  for (std::size_t i = 0; i < a.report.history.size(); ++i) {
    EXPECT_EQ(a.report.history[i].train, b.report.history[i].train) << "epoch " << i + 1;
    EXPECT_EQ(a.report.history[i].valid, b.report.history[i].valid) << "epoch " << i + 1;
  }
  EXPECT_EQ(a.model.into_record().to_bytes().size(), b.model.into_record().to_bytes().size());
  for (const auto& [name, data] : a.model.into_record()) EXPECT_EQ(data, b.model.into_record().get(name)) << name;
}

TEST_F(Training, Learns) {
  const auto result = training().epochs(10).summary().launch(learner());
  const auto& history = result.report.history;
  ASSERT_EQ(history.size(), 10u);
  EXPECT_THAT(result.report.metrics, ElementsAre("Accuracy", "Loss"));
  EXPECT_LT(history.back().train[1], history.front().train[1] / 2);
  EXPECT_GT(history.back().valid[0], 80);
  ASSERT_EQ(renderer->epochs.size(), 10u);
  EXPECT_EQ(renderer->epochs[0].train[0].label, "loss");  // the loss is first, whatever the order of metrics()
  EXPECT_EQ(renderer->table.size(), 4u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/metrics.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/checkpoint/epoch-8"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint/epoch-9/model.safetensors"));
}

TEST_F(Training, GivesTheSameNumbersWithAndWithoutWorkers) {
  const auto without = training(0).launch(learner());
  const auto with = training(3).launch(learner());
  expect_same(without, with);
}

TEST_F(Training, ValidatesWithoutDropout) {
  const auto result = training().epochs(1).launch(learner());
  const auto model = result.model.valid();
  double sum = 0;
  const auto valid = test::tiny_loaders(device).valid;
  for (auto it = valid.start(0); it != valid.end(); ++it) sum += model.step(*it).loss.into_scalar<double>();
  EXPECT_NEAR(result.report.history[0].valid[1], sum / 2, 1e-6);
}

TEST_F(Training, ResumedAfterAnEpochGivesTheSameNumbers) {
  const auto whole = training().launch(learner());
  (void)training().epochs(2).launch(learner());
  device = Device::new_session("cpu");
  expect_same(training().resume(train::latest).launch(learner()), whole);
}

TEST_F(Training, TakesTheRatesOfGroupsAlsoWhenItIsResumed) {
  schedule.with_group(ParamGroup::from_path("output"), lr::Exponential{.initial = 0.05, .gamma = 0.8})
      .with_group(ParamGroup::from_path("output.bias"), 0.0);
  const auto untrained = learner().model.into_record();
  const auto whole = training().launch(learner());
  EXPECT_EQ(whole.model.into_record().get("output.bias"), untrained.get("output.bias"));
  EXPECT_NE(whole.model.into_record().get("output.weight"), untrained.get("output.weight"));
  expect_same(interrupt_and_resume(Split::train, 3, 20), whole);
}

TEST_F(Training, DoesNotResumeWithGroupsThatTheCheckpointDoesNotHave) {
  (void)training().epochs(1).launch(learner());
  schedule.with_group(ParamGroup::from_path("output"), 0.1);
  EXPECT_THAT(test::error_of([&] { (void)training().resume(train::latest).launch(learner()); }),
              HasSubstr("the record of the learning rates"));
}

TEST_F(Training, ResumedFromAChosenEpochGivesTheSameNumbers) {
  const auto whole = training().launch(learner());
  (void)training().epochs(3).launch(learner());
  device = Device::new_session("cpu");
  expect_same(training().resume(2).launch(learner()), whole);
}

TEST_F(Training, InterruptedInTheMiddleOfAnEpochAndResumedGivesTheSameNumbers) {
  const auto whole = training().launch(learner());
  expect_same(interrupt_and_resume(Split::train, 2, 20), whole);
}

TEST_F(Training, InterruptedInTheFirstEpochAndResumedGivesTheSameNumbers) {
  const auto whole = training().launch(learner());
  expect_same(interrupt_and_resume(Split::train, 1, 10), whole);
}

TEST_F(Training, InterruptedBeforeTheFirstStepAndResumedGivesTheSameNumbers) {
  const auto whole = training().launch(learner());
  for (int i = 0; i < 2; ++i) {  // the second time: a resumed training is interrupted there again
    renderer = std::make_shared<StoppingRenderer>();
    renderer->interrupter.stop("early");
    auto stopped = training();
    if (i > 0) stopped.resume(train::latest);
    EXPECT_TRUE(stopped.launch(learner()).interrupted());
    EXPECT_THAT(renderer->messages, ElementsAre("interrupted before epoch 1 (early); resume goes on from there"));
  }
  renderer = std::make_shared<StoppingRenderer>();
  expect_same(training().resume(train::latest).launch(learner()), whole);
}

TEST_F(Training, InterruptedWithoutCheckpointsSaysThatThereIsNone) {
  renderer->interrupter.stop("early");
  EXPECT_TRUE(training().checkpoints(std::nullopt).launch(learner()).interrupted());
  EXPECT_THAT(renderer->messages,
              ElementsAre("interrupted before epoch 1 (early); there is no checkpoint of it to resume from"));
  EXPECT_THAT(test::error_of([&] { (void)training().resume(train::latest).launch(learner()); }),
              HasSubstr("no checkpoint in " + (folder / "run").string()));
}

TEST_F(Training, InterruptedWhileValidatingAndResumedGivesTheSameNumbers) {
  const auto whole = training().launch(learner());
  expect_same(interrupt_and_resume(Split::valid, 3, 10), whole);
}

TEST_F(Training, AnInterruptedOneSaysHowFarItCame) {
  renderer->epoch = 2;
  renderer->items = 10;
  const auto result = training().launch(learner());
  ASSERT_EQ(renderer->messages.size(), 1u);
  EXPECT_THAT(renderer->messages[0], HasSubstr("interrupted in epoch 2 after "));
  EXPECT_THAT(renderer->messages[0], HasSubstr("(enough); resume goes on from there"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint/interrupted/state.json"));
}

TEST_F(Training, CtrlCInterrupts) {
  const auto interrupter = train::Interrupter::on_ctrl_c();
  EXPECT_FALSE(interrupter.should_stop());
  ::raise(SIGINT);
  EXPECT_TRUE(interrupter.should_stop());
  EXPECT_EQ(interrupter.reason(), "Ctrl-C");
  const auto result = training().interrupter(interrupter).launch(learner());
  EXPECT_TRUE(result.interrupted());
  EXPECT_TRUE(result.report.history.empty());
  struct sigaction now {};
  ::sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);  // a second SIGINT ends the process
  interrupter.reset();
  EXPECT_FALSE(interrupter.should_stop());
  ::signal(SIGINT, SIG_DFL);
}

TEST_F(Training, StopsEarlyWhenNothingGetsBetterAndSoDoesAResumedOne) {
  const auto stopping = [this] {
    auto described = training();
    described.epochs(50).early_stopping({.metric = "Accuracy", .split = Split::valid, .patience = 3});
    return described;
  };
  const auto result = stopping().launch(learner());
  EXPECT_EQ(result.report.reason, train::StopReason::stopped_early);
  ASSERT_LT(result.report.history.size(), 50u);
  EXPECT_THAT(renderer->messages.at(0), HasSubstr("early stopping: valid Accuracy"));
  (void)training().epochs(static_cast<std::int64_t>(result.report.history.size()) - 1).launch(learner());
  expect_same(stopping().resume(train::latest).launch(learner()), result);
}

TEST_F(Training, DoesNotResumeFromNothingNorWithOtherMetrics) {
  EXPECT_THROW((void)training().resume(train::latest).launch(learner()), Error);
  (void)training().epochs(1).launch(learner());
  EXPECT_THROW((void)training().resume(5).launch(learner()), Error);
  EXPECT_THROW((void)training().metrics(metric::Loss{}).resume(train::latest).launch(learner()), Error);
}

// A layer at two places.
struct TiedNet {
  nn::Linear hidden, output;
  std::vector<nn::Linear> middle;
  BURN_MODULE(TiedNet, hidden, output, middle)

  static TiedNet init(const Device& device) {
    const auto middle = nn::LinearConfig{.d_input = 16, .d_output = 16}.init(device);
    return {.hidden = nn::LinearConfig{.d_input = 2, .d_output = 16}.init(device),
            .output = nn::LinearConfig{.d_input = 16, .d_output = 2}.init(device),
            .middle = {middle, middle}};
  }
  train::ClassificationOutput step(const test::PointBatch& batch) const {
    auto x = hidden(batch.x).tanh();
    for (const auto& layer : middle) x = layer(x).tanh();
    const auto logits = output(x);
    return {nn::CrossEntropyLoss{}(logits, batch.targets), logits, batch.targets};
  }
  bool is_tied() const { return middle[0].weight.val().to_data() == middle[1].weight.val().to_data(); }
};

TEST_F(Training, OfATiedModelResumedGivesTheSameNumbersAndStaysTied) {
  const auto model = [this] {
    device.seed(1);
    return train::Learner<TiedNet>{TiedNet::init(device.autodiff()), optim::AdamConfig{}, schedule};
  };
  const auto whole = training().epochs(2).launch(model());
  (void)training().epochs(1).launch(model());
  const auto resumed = training().epochs(2).resume(train::latest).launch(model());
  EXPECT_EQ(resumed.report.history.back().train, whole.report.history.back().train);
  EXPECT_EQ(resumed.report.history.back().valid, whole.report.history.back().valid);
  EXPECT_EQ(resumed.model.middle[1].weight.val().to_data(), whole.model.middle[0].weight.val().to_data());
  EXPECT_NE(whole.model.middle[0].weight.val().to_data(), model().model.middle[0].weight.val().to_data());
  EXPECT_TRUE(resumed.model.is_tied() && whole.best().model.is_tied());
}

// A metric of the user.
struct LargestLogit : metric::MeanMetric {
  std::string name() const override { return "Largest"; }
  bool higher_is_better() const override { return true; }
  Tensor<1> measure(const train::StepOutput& output) const override { return output.output_as<2>().max(); }
};

TEST_F(Training, TakesMetricsOfTheUser) {
  const auto result = training().metrics(LargestLogit{}, metric::Loss{}).epochs(1).launch(learner());
  EXPECT_THAT(result.report.metrics, ElementsAre("Largest", "Loss"));
  EXPECT_GT(result.report.history[0].train[0], 0);
}

TEST_F(Training, AccumulatedGradientsOfHalvesAreThoseOfTheWhole) {
  // SGD on four batches of ten equals SGD on one batch of forty: at the same rate with the mean of their gradients, at
  // a quarter of the rate with their sum.
  const auto data = data::InMemDataset<test::Point>(test::points(40, 1));
  auto builder = data::DataLoaderBuilder(test::PointBatcher{device});
  const auto small = builder.batch_size(10).build(data), large = builder.batch_size(40).build(data);
  auto model = test::TinyNet::init(device.autodiff());
  model.dropout.prob = 0;
  const auto trained = [&](const auto& loader, std::int64_t accumulation, train::Reduction reduction, double lr) {
    auto training = train::SupervisedTraining(folder / "run", loader, loader)
                        .grads_accumulation(accumulation, reduction)
                        .observe(test::synchronous_observer(renderer));
    return training.launch(train::Learner(model, optim::SgdConfig{}, lr)).model.output.weight.val().to_data();
  };
  using train::Reduction;
  trained(small, 4, Reduction::sum, 0.1).assert_approx_eq(trained(large, 1, Reduction::sum, 0.4), {1e-4, 1e-5});
  trained(small, 4, Reduction::mean, 0.1).assert_approx_eq(trained(large, 1, Reduction::mean, 0.1), {1e-4, 1e-5});
  // The remaining batches at the end of an epoch are averaged over their number.
  trained(small, 9, Reduction::mean, 0.1).assert_approx_eq(trained(large, 1, Reduction::mean, 0.1), {1e-4, 1e-5});
}

}  // namespace
}  // namespace burn
