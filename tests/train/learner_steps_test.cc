// Steps of the learner: clipping, scaling, averages, losses that are NaN, callbacks, several optimizers, and models
// with their own training step.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/train/learner_fixture.h"

namespace burn {
namespace {

using test::TinyNet;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LearnerSteps : public test::LearnerTest {
 protected:
  // Without dropout, as a hand-written loop would draw other random numbers for it.
  train::Learner<TinyNet> plain_learner() {
    auto made = learner();
    made.model.dropout.prob = 0;
    return made;
  }
};

void expect_close(const TinyNet& a, const TinyNet& b) {
  const auto of_b = b.into_record();
  for (const auto& [name, data] : a.into_record()) data.assert_approx_eq(of_b.get(name), {1e-4, 1e-5});
}

TEST_F(LearnerSteps, ClipTheNormOfAllGradientsTogether) {
  auto model = plain_learner().model;
  const auto clipped = training().epochs(2).clip_norm(0.05).launch(plain_learner()).model;
  auto optimizer = optim::AdamConfig{}.init<TinyNet>();
  const lr::Cosine schedule{.initial = 0.05, .steps = 20};
  const auto loader = test::tiny_loaders(device).train;
  std::int64_t step = 0;
  for (const std::size_t epoch : {0, 1}) {
    for (auto it = loader.start(epoch); it != loader.end(); ++it) {
      auto gradients = GradientsParams::from_grads(model.step(*it).loss.backward(), model);
      (void)gradients.clip_norm(0.05);
      model = optimizer.step(schedule.at(step++), std::move(model), std::move(gradients));
    }
  }
  expect_close(clipped, model);
  const auto plain = training().epochs(2).launch(plain_learner()).model;
  EXPECT_NE(plain.output.weight.val().to_data(), clipped.output.weight.val().to_data());
}

TEST_F(LearnerSteps, AnOptimizerThatClipsByItselfIsNotClippedTwice) {
  device.seed(1);
  const auto message = test::error_of([&] {
    (void)training().clip_norm(1).launch(
        train::Learner<TinyNet>(TinyNet::init(device.autodiff()),
                                optim::AdamConfig{.grad_clipping = optim::GradientClippingConfig{.norm = 1}}, 0.1));
  });
  EXPECT_THAT(message, HasSubstr("clip_norm: the optimizer clips gradients itself"));
}

TEST_F(LearnerSteps, ScaledLossesGiveTheSameStepsAndTheScaleIsInTheCheckpoint) {
  const auto plain = training().launch(plain_learner()).model;
  const optim::GradScalerConfig config{.initial = 256, .growth_interval = 3};
  expect_close(training().grad_scaler(config).launch(plain_learner()).model, plain);
  (void)training().grad_scaler(config).max_steps(7).launch(plain_learner());
  expect_close(training().grad_scaler(config).resume(train::latest).launch(plain_learner()).model, plain);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint/epoch-4/grad_scaler.safetensors"));
}

TEST_F(LearnerSteps, ComputeTheirProductsInTheDtypeOfAutocast) {
  const auto wide = training().epochs(1).launch(plain_learner());
  const auto narrow = training().epochs(1).autocast(DType::bf16).launch(plain_learner());
  EXPECT_NE(wide.report.history[0].valid[1], narrow.report.history[0].valid[1]);
  EXPECT_NEAR(wide.report.history[0].valid[1], narrow.report.history[0].valid[1], 0.05);
  EXPECT_EQ(narrow.model.output.weight.val().dtype(), DType::f32);
}

TEST_F(LearnerSteps, ValidateAndKeepTheAveragesOfTheWeights) {
  const auto plain = training().launch(learner());
  const auto result = training().ema({.decay = 0.8}).launch(learner());
  test::expect_same_model(result.model, plain.model);  // the averages do not replace the trained weights
  EXPECT_NE(result.report.history[0].valid, plain.report.history[0].valid);
  const auto average = result.averaged();
  EXPECT_NE(average.output.weight.val().to_data(), result.model.output.weight.val().to_data());
  double sum = 0;
  const auto valid = test::tiny_loaders(device).valid;
  for (auto it = valid.start(0); it != valid.end(); ++it) sum += average.valid().step(*it).loss.into_scalar<double>();
  EXPECT_NEAR(result.report.history.back().valid[1], sum / 2, 1e-6);
  const auto best = result.best();
  sum = 0;
  for (auto it = valid.start(0); it != valid.end(); ++it)
    sum += best.model.valid().step(*it).loss.into_scalar<double>();
  EXPECT_NEAR(best.value, sum / 2, 1e-6);
}

// Points for 5 batches, one of which has a NaN.
std::vector<test::Point> with_nan(std::size_t batch) {
  auto points = test::points(50, 1);
  points[10 * batch + 3].x[0] = std::numeric_limits<float>::quiet_NaN();
  return points;
}

class NanLosses : public LearnerSteps {
 protected:
  train::SupervisedTraining<test::PointBatch> described() {
    auto builder = data::DataLoaderBuilder(test::PointBatcher{device}).batch_size(10);
    const auto train = builder.build(data::InMemDataset<test::Point>(with_nan(2)));
    return train::SupervisedTraining(folder / "run", train)
        .metrics(metric::Accuracy{})
        .observe(test::synchronous_observer(renderer))
        .epochs(2);
  }
  bool is_finite(const TinyNet& model) {
    for (const auto& [name, data] : model.into_record()) {
      for (const float x : data.as_slice<float>()) {
        if (!std::isfinite(x)) return false;
      }
    }
    return true;
  }
};

TEST_F(NanLosses, AreToldOnceWithStepAndBatch) {
  const auto result = described().launch(plain_learner());
  EXPECT_FALSE(is_finite(result.model));
  EXPECT_THAT(renderer->messages, ElementsAre(HasSubstr("the loss is nan in step 3 (batch 3 of epoch 1)")));
}

TEST_F(NanLosses, AreSkippedWhereThatIsAsked) {
  const auto result = described().on_nan(train::OnNan::skip).launch(plain_learner());
  EXPECT_TRUE(is_finite(result.model));
  EXPECT_EQ(result.report.skipped, 2);
  EXPECT_THAT(renderer->messages, ElementsAre(HasSubstr("batch 3 of epoch 1); this step and others like it change")));
}

TEST_F(NanLosses, EndTheTrainingWhereThatIsAsked) {
  EXPECT_THAT(test::error_of([&] { (void)described().on_nan(train::OnNan::stop).launch(plain_learner()); }),
              HasSubstr("the loss is nan in step 3 (batch 3 of epoch 1)"));
}

TEST_F(NanLosses, AreNothingToSpeakOfWhereThatIsAsked) {
  (void)described().on_nan(train::OnNan::go_on).launch(plain_learner());
  EXPECT_TRUE(renderer->messages.empty());
}

TEST_F(LearnerSteps, CallbacksAreToldEachMoment) {
  std::vector<std::string> moments;
  const auto note = [&](const char* what) { return [&moments, what](train::Run&) { moments.emplace_back(what); }; };
  callback->on_start = note("start");
  callback->on_step = note("step");
  callback->on_validation = note("validation");
  callback->on_epoch = [&](train::Run& run) {
    moments.emplace_back("epoch");
    EXPECT_EQ(run.history().size(), static_cast<std::size_t>(run.epoch()));
    EXPECT_EQ(run.value(train::Split::valid, "Loss"), run.history().back().valid[1]);
    EXPECT_GT(run.rate(), 0);
  };
  callback->on_end = note("end");
  (void)training().epochs(1).launch(learner());
  EXPECT_THAT(moments, ElementsAre("start", "step", "step", "step", "step", "step", "validation", "epoch", "end"));
}

TEST_F(LearnerSteps, ACallbackMayStopTheRun) {
  callback->on_step = [](train::Run& run) {
    if (run.step() == 7) run.stop("seven are enough");
  };
  const auto result = training().launch(learner());
  EXPECT_EQ(result.report.reason, train::StopReason::stopped_early);
  EXPECT_EQ(result.report.steps, 7);
  EXPECT_EQ(result.report.history.size(), 2u);
  EXPECT_THAT(renderer->messages, Contains("the training ends: seven are enough"));
}

TEST_F(LearnerSteps, ACallbackThatThrowsEndsTheRunWithACheckpointAndItsName) {
  const auto whole = training().launch(learner());
  callback->on_step = [](train::Run& run) {
    if (run.step() == 7) throw std::runtime_error("no license");
  };
  EXPECT_EQ(launch_error(training()), "callback Listening (step): no license");
  EXPECT_TRUE(exists("interrupted"));
  restart();
  test::expect_same(training().resume(train::latest).launch(learner()), whole);
}

// A model of two halves, each with its own loss and its own optimizer.
struct TwoHalves {
  nn::Linear a, b;
  BURN_MODULE(TwoHalves, a, b)

  static TwoHalves init(const Device& device) {
    const auto half = nn::LinearConfig{.d_input = 2, .d_output = 2};
    return {.a = half.init(device), .b = half.init(device)};
  }
  train::TrainOutput<train::ClassificationOutput> train_step(const test::PointBatch& batch) const {
    const auto logits = a(batch.x), others = b(batch.x);
    const auto loss = nn::CrossEntropyLoss{}(logits, batch.targets);
    const auto other = nn::CrossEntropyLoss{}(others, batch.targets);
    auto of_a = loss.backward(), of_b = other.backward();
    auto gradients = GradientsParams::from_module(of_a, a);
    auto rest = GradientsParams::from_module(of_b, b);
    for (const auto id : {b.weight.id(), b.bias->id()}) gradients.put(id, *rest.remove(id));
    return {std::move(gradients), {loss, logits, batch.targets}};
  }
  train::ClassificationOutput valid_step(const test::PointBatch& batch) const {
    const auto logits = a(batch.x);
    return {nn::CrossEntropyLoss{}(logits, batch.targets), logits, batch.targets};
  }
  void optimize(lr::ModuleLearningRate&, GradientsParams&, train::OptimizerChoice& choice) const {
    if (choice.batch() % 5 != 0) choice.skip("b");
  }
};

class SeveralOptimizers : public LearnerSteps {
 protected:
  train::Learner<TwoHalves> halves() {
    device.seed(1);
    return {TwoHalves::init(device.autodiff()),
            {{"a", ParamGroup::from_path("a"), optim::AdamConfig{}, 0.1},
             {"b", ParamGroup::from_path("b"), optim::SgdConfig{}, lr::Exponential{.initial = 0.1, .gamma = 0.5}}}};
  }
  std::string launch_error_with(const std::vector<train::NamedOptimizer>& optimizers) {
    device.seed(1);
    return test::error_of(
        [&] { (void)training().launch(train::Learner(TwoHalves::init(device.autodiff()), optimizers)); });
  }
};

TEST_F(SeveralOptimizers, StepTheirOwnParametersAtTheirOwnRates) {
  const auto untrained = halves().model.into_record();
  const auto result = training().epochs(1).launch(halves());
  const auto trained = result.model.into_record();
  EXPECT_NE(trained.get("a.weight"), untrained.get("a.weight"));
  // b took one step of five, at its first rate.
  auto model = halves().model;
  const auto loader = test::tiny_loaders(device).train;
  const auto first = loader.start(0);
  auto gradients = nn::CrossEntropyLoss{}(model.b(first->x), first->targets).backward();
  const auto gradient = GradientsParams::from_module(gradients, model.b).get(model.b.weight)->to_data();
  auto expected = model.b.weight.val().to_data().to_vec<float>();
  const auto of_b = gradient.to_vec<float>();
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] -= 0.1f * of_b[i];
  trained.get("b.weight").assert_approx_eq(TensorData{expected, {2, 2}}, {1e-5, 1e-6});
}

TEST_F(SeveralOptimizers, AreInCheckpoints) {
  const auto whole = training().launch(halves());
  (void)training().max_steps(7).launch(halves());
  restart();
  const auto resumed = training().resume(train::latest).launch(halves());
  const auto expected = whole.model.into_record();
  for (const auto& [name, data] : resumed.model.into_record()) EXPECT_EQ(data, expected.get(name)) << name;
}

TEST_F(SeveralOptimizers, ThatShareOrLackParametersAreRefused) {
  const auto a = ParamGroup::from_path("a"), b = ParamGroup::from_path("b");
  EXPECT_THAT(launch_error_with({{"a", a, optim::AdamConfig{}, 0.1}}),
              HasSubstr("the parameter \"b.weight\" belongs to none of: a"));
  EXPECT_THAT(
      launch_error_with({{"all", ParamGroup::all(), optim::AdamConfig{}, 0.1}, {"b", b, optim::AdamConfig{}, 0.1}}),
      HasSubstr("the parameter \"b.weight\" belongs to two of them: \"all\" and \"b\""));
  EXPECT_THAT(launch_error_with({{"all", ParamGroup::all(), optim::AdamConfig{}, 0.1},
                                 {"c", ParamGroup::from_path("c"), optim::AdamConfig{}, 0.1}}),
              HasSubstr("\"c\" has no parameter"));
  EXPECT_THAT(launch_error_with(
                  {{"a", a, optim::AdamConfig{}, 0.1}, {"b", ParamGroup::from_path("typo"), optim::AdamConfig{}, 0.1}}),
              HasSubstr("\"b\" has no parameter: its group matches none that is trained; the parameter \"b.weight\" "
                        "belongs to no optimizer"));
  EXPECT_THAT(launch_error_with({{"a", a, optim::AdamConfig{}, 0.1}, {"a", b, optim::AdamConfig{}, 0.1}}),
              HasSubstr("two are called \"a\""));
  EXPECT_THAT(launch_error_with({}), HasSubstr("the list is empty"));
  EXPECT_THAT(launch_error_with({{"x", a, optim::AdamConfig{}, 0.1}, {"y", b, optim::AdamConfig{}, 0.1}}),
              HasSubstr("skip(\"b\"): there are: x, y"));
}

}  // namespace
}  // namespace burn
