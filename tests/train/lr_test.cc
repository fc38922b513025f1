// Learning rates, against the reference vectors and by hand.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/error_of.h"
#include "tests/train/vectors.h"
#include "train/lr/compose.h"

namespace burn {
namespace {

lr::Scheduler schedule_of(const test::Vector& v) {
  const auto initial = [&] { return v.number("initial_lr"); };
  if (v.op == "lr_cosine_annealing") {
    return lr::Cosine{.initial = initial(), .min_lr = v.number("min_lr"), .steps = v.integer("num_iters")};
  }
  if (v.op == "lr_exponential") return lr::Exponential{.initial = initial(), .gamma = v.number("gamma")};
  if (v.op == "lr_linear") {
    return lr::Linear{.initial = initial(), .final_lr = v.number("final_lr"), .steps = v.integer("num_iters")};
  }
  if (v.op == "lr_step") {
    return lr::Step{.initial = initial(), .gamma = v.number("gamma"), .step_size = v.integer("step_size")};
  }
  return lr::Noam{
      .factor = v.number("factor"), .warmup_steps = v.integer("warmup_steps"), .model_size = v.integer("model_size")};
}

TEST(LearningRate, FollowsTheReferenceVectors) {
  const auto vectors = test::vectors_of("optim.jsonl", "lr_");
  if (vectors.empty()) GTEST_SKIP() << "no reference vectors here; the other tests of this file stand alone";
  for (const auto& vector : vectors) {
    auto schedule = schedule_of(vector);
    for (const double want : vector.outputs.at(0).data) {
      EXPECT_NEAR(schedule.step(), want, vector.atol + vector.rtol * std::abs(want)) << vector.id;
    }
  }
}

TEST(LearningRate, ComposesItsMeanSumAndProduct) {
  const auto composed = [](lr::SchedulerReduction how) {
    return lr::Composed{
        {lr::Linear{.initial = 2, .final_lr = 0, .steps = 4}, lr::Exponential{.initial = 1, .gamma = 0.5}}, how};
  };
  auto product = composed(lr::SchedulerReduction::prod);
  EXPECT_DOUBLE_EQ(product.step(), 2);
  EXPECT_DOUBLE_EQ(product.step(), 1.5 * 0.5);
  EXPECT_DOUBLE_EQ(composed(lr::SchedulerReduction::sum).at(2), 1.25);
  EXPECT_DOUBLE_EQ(composed(lr::SchedulerReduction::avg).at(2), 0.625);
  EXPECT_THROW(lr::Composed{{}}, Error);
}

TEST(LearningRate, GoesFromScheduleToScheduleAtMilestones) {
  lr::Scheduler schedule =
      lr::Sequential{{lr::Linear{.initial = 0.1, .final_lr = 0.3, .steps = 2},
                      lr::Exponential{.initial = 0.5, .gamma = 0.5}, lr::Cosine{.initial = 0.8, .steps = 2}},
                     {2, 5}};
  for (const double want : {0.1, 0.2, 0.5, 0.25, 0.125, 0.8, 0.4, 0.0}) EXPECT_NEAR(schedule.step(), want, 1e-12);
  EXPECT_THROW((lr::Sequential{{0.1, 0.2}, {}}), Error);
  EXPECT_THROW((lr::Sequential{{0.1, 0.2, 0.3}, {2, 2}}), Error);
  EXPECT_THROW((lr::Sequential{{0.1, 0.2}, {0}}), Error);
}

TEST(LearningRate, OfACosineFallsFromTheInitialToTheSmallest) {
  lr::Cosine schedule{.initial = 1, .min_lr = 0.5, .steps = 4};
  EXPECT_DOUBLE_EQ(schedule.step(), 1);
  EXPECT_DOUBLE_EQ(schedule.step(), 0.5 + 0.25 * (1 + std::sqrt(0.5)));
  EXPECT_DOUBLE_EQ(schedule.step(), 0.75);
  EXPECT_DOUBLE_EQ(schedule.at(4), 0.5);
}

TEST(LearningRate, OfTheOthersByHand) {
  EXPECT_EQ(lr::Constant{.rate = 0.1}.at(1000), 0.1);
  EXPECT_DOUBLE_EQ((lr::Linear{.initial = 1, .final_lr = 0, .steps = 4}.at(1)), 0.75);
  EXPECT_DOUBLE_EQ((lr::Linear{.initial = 1, .final_lr = 0.25, .steps = 4}.at(9)), 0.25);
  EXPECT_DOUBLE_EQ((lr::Exponential{.initial = 1, .gamma = 0.5}.at(3)), 0.125);
  EXPECT_DOUBLE_EQ((lr::Step{.initial = 1, .gamma = 0.5, .step_size = 3}.at(5)), 0.5);
  EXPECT_DOUBLE_EQ((lr::Noam{.factor = 2, .warmup_steps = 4, .model_size = 16}.at(0)), 0.0625);
}

TEST(LearningRate, ASchedulerSavesWhereItIs) {
  const lr::Exponential schedule{.initial = 1, .gamma = 0.5};
  lr::Scheduler first{schedule};
  (void)first.step();
  (void)first.step();
  lr::Scheduler second{schedule};
  second.load_record(first.to_record());
  EXPECT_EQ(second.done(), 2);
  EXPECT_EQ(second.step(), 0.25);
  EXPECT_EQ(second.last(), 0.25);
  EXPECT_THROW(second.load_record("[]"), Error);
}

TEST(LearningRate, AScheduleOfItsOwnSavesItselfWhole) {
  lr::Cosine schedule{.initial = 1, .steps = 10};
  (void)schedule.step();
  auto loaded = lr::Cosine::from_json(schedule.to_json());
  EXPECT_DOUBLE_EQ(loaded.step(), schedule.step());
}

TEST(LearningRate, ANumberIsASchedule) {
  lr::Scheduler scheduler = 0.1;
  EXPECT_EQ(scheduler.step(), 0.1);
  EXPECT_EQ(scheduler.step(), 0.1);
}

TEST(LearningRate, OverNoStepsIsAnError) { EXPECT_THROW((void)(lr::Cosine{.initial = 1, .steps = 0}.at(0)), Error); }

TEST(LearningRate, ThatIsNoneIsRefusedByEverySchedule) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [bad, text] :
       std::vector<std::pair<double, const char*>>{{-0.1, "-0.1"}, {kNan, "nan"}, {kInfinity, "inf"}}) {
    const auto wrong = std::string{" is "} + text + ", must be at least 0 and finite";
    const auto said = [](auto schedule) { return test::error_of([&] { (void)schedule.at(1); }); };
    EXPECT_EQ(said(lr::Constant{.rate = bad}), "lr::Constant: rate" + wrong);
    EXPECT_EQ(said(lr::Linear{.initial = bad, .steps = 2}), "lr::Linear: initial" + wrong);
    EXPECT_EQ(said(lr::Linear{.final_lr = bad, .steps = 2}), "lr::Linear: final_lr" + wrong);
    EXPECT_EQ(said(lr::Cosine{.initial = bad, .steps = 2}), "lr::Cosine: initial" + wrong);
    EXPECT_EQ(said(lr::Cosine{.min_lr = bad, .steps = 2}), "lr::Cosine: min_lr" + wrong);
    EXPECT_EQ(said(lr::Exponential{.initial = bad}), "lr::Exponential: initial" + wrong);
    EXPECT_EQ(said(lr::Exponential{.gamma = bad}), "lr::Exponential: gamma" + wrong);
    EXPECT_EQ(said(lr::Step{.initial = bad}), "lr::Step: initial" + wrong);
    EXPECT_EQ(said(lr::Step{.gamma = bad}), "lr::Step: gamma" + wrong);
    EXPECT_EQ(said(lr::Noam{.factor = bad}), "lr::Noam: factor" + wrong);
    EXPECT_EQ(test::error_of([&] { (void)lr::Scheduler{bad}; }), "lr::Constant: rate" + wrong);
    struct Own {
      double rate;
      double at(std::int64_t) const { return rate; }
    };
    EXPECT_EQ(said(lr::Scheduler{Own{bad}}), "the schedule: the learning rate of step 1" + wrong);
  }
  EXPECT_EQ(test::error_of([] { (void)(lr::Exponential{.gamma = 10}.at(400)); }),
            "lr::Exponential: the learning rate of step 400 is inf, must be at least 0 and finite");
  EXPECT_THROW((void)(lr::Composed{{1e200, 1e200}}.at(0)), Error);
  EXPECT_EQ(lr::Constant{.rate = 0}.at(0), 0);
}

}  // namespace
}  // namespace burn
