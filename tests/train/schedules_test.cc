// Schedules that warm up or follow a metric: against hand-computed rates, nested, in records. Their formulas are
// compared with PyTorch's in trajectories_test.cc.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/error_of.h"
#include "train/lr/compose.h"
#include "train/lr/cycles.h"
#include "train/lr/module_lr.h"
#include "train/lr/plateau.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

lr::ReduceOnPlateau halving() { return {.initial = 1, .factor = 0.5, .patience = 1}; }

TEST(Schedules, WarmUpInAStraightLineAndThenBegin) {
  lr::Scheduler schedule = lr::warmup(4, lr::Linear{.initial = 1, .final_lr = 0, .steps = 2});
  for (const double want : {0.2, 0.4, 0.6, 0.8, 1.0, 0.5, 0.0}) EXPECT_DOUBLE_EQ(schedule.step(), want);
  EXPECT_DOUBLE_EQ(lr::warmup(0, 0.1).at(0), 0.1);
  EXPECT_THAT(test::error_of([] { (void)lr::warmup(-1, 0.1); }), HasSubstr("steps is -1"));
}

TEST(Schedules, FallWhenTheMetricGetsNoBetter) {
  lr::Scheduler schedule = halving();
  EXPECT_TRUE(schedule.needs_metric());
  for (const double loss : {3.0, 2.0, 2.5}) schedule.tell(loss);
  EXPECT_EQ(schedule.step(), 1);
  schedule.tell(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(schedule.step(), 0.5);
  lr::Scheduler rising = lr::ReduceOnPlateau{.initial = 1, .patience = 0, .goal = lr::Goal::highest};
  for (const double accuracy : {0.5, 0.6, 0.7}) rising.tell(accuracy);
  EXPECT_EQ(rising.step(), 1);
  rising.tell(0.7);
  EXPECT_DOUBLE_EQ(rising.step(), 0.1);
}

TEST(Schedules, CallMetricsBelowZeroBetterWhenTheyAreLower) {
  lr::Scheduler schedule = lr::ReduceOnPlateau{.initial = 1, .factor = 0.5, .patience = 0, .threshold = 0.1};
  for (const double loss : {-1.0, -1.2, -1.5}) schedule.tell(loss);
  EXPECT_EQ(schedule.step(), 1);
  schedule.tell(-1.4);
  EXPECT_EQ(schedule.step(), 0.5);
}

TEST(Schedules, ThatFollowAMetricAreValuesAndKeepTheirStateInRecords) {
  lr::Scheduler first = halving();
  for (const double loss : {1.0, 1.0}) first.tell(loss);
  (void)first.step();
  lr::Scheduler copy = first, loaded = halving();
  loaded.load_record(first.to_record());
  first.tell(1.0);
  EXPECT_EQ(first.next(), 0.5);
  EXPECT_EQ(copy.next(), 1);  // a copy does not share the state
  loaded.tell(1.0);
  EXPECT_EQ(loaded.next(), 0.5);
  EXPECT_EQ(loaded.done(), 1);
  EXPECT_THAT(test::error_of([&] { loaded.load_record(lr::Scheduler{0.1}.to_record()); }),
              HasSubstr("follows no metric, this one does"));
  EXPECT_THAT(test::error_of([&] { lr::Scheduler{0.1}.load_record(first.to_record()); }),
              HasSubstr("follows a metric, this one does not"));
  EXPECT_EQ(loaded.next(), 0.5);
}

TEST(Schedules, OfSchedulesPassAMetricOnAndKeepIt) {
  const auto make = [] {
    lr::ModuleLrScheduler all{lr::warmup(2, halving())};
    all.with_group(ParamGroup::from_path("head"), lr::Composed{{halving(), lr::Constant{.rate = 4}}});
    return all;
  };
  auto schedule = make();
  EXPECT_TRUE(schedule.needs_metric());
  EXPECT_FALSE(lr::ModuleLrScheduler{0.1}.needs_metric());
  for (int i = 0; i < 3; ++i) schedule.tell(1);  // the base schedule still warms up and ignores the metric
  for (int i = 0; i < 2; ++i) (void)schedule.step();
  auto resumed = make();
  resumed.load_record(schedule.to_record());
  for (auto* each : {&schedule, &resumed}) {
    const auto rates = each->step();
    EXPECT_EQ(rates.base().as_double(), 1);
    EXPECT_EQ(rates.rate_of_group(1).as_double(), 2);
    EXPECT_EQ(rates.lr_from_param({}, "head.weight").as_double(), 2);
    EXPECT_EQ(rates.lr_from_param({}, "body.weight").as_double(), 1);
    for (int i = 0; i < 3; ++i) each->tell(1);
    EXPECT_EQ(each->step().base().as_double(), 0.5);
  }
  lr::Scheduler parts = lr::Sequential{{lr::Constant{.rate = 3}, halving()}, {1}};
  for (int i = 0; i < 4; ++i) parts.tell(1);
  (void)parts.step();
  EXPECT_EQ(parts.step(), 1);
  for (int i = 0; i < 3; ++i) parts.tell(1);
  EXPECT_EQ(parts.step(), 0.5);
}

TEST(Schedules, SaveThemselvesWhole) {
  auto told = halving();
  for (int i = 0; i < 3; ++i) told.tell(1);
  EXPECT_EQ(lr::ReduceOnPlateau::from_json(told.to_json()).step(), 0.5);
  lr::Cyclic cyclic{.min_lr = 1, .max_lr = 3, .steps_up = 2, .rule = lr::CycleRule::halving};
  (void)cyclic.step();
  EXPECT_EQ(lr::Cyclic::from_json(cyclic.to_json()).step(), 2);
}

TEST(Schedules, RefuseNumbersOutOfRange) {
  const auto said = [](auto schedule) { return test::error_of([&] { (void)schedule.at(1); }); };
  EXPECT_EQ(said(lr::OneCycle{.steps = 0}), "lr::OneCycle: steps is 0, must be positive");
  EXPECT_THAT(said(lr::OneCycle{.rising = 1.5}), HasSubstr("rising is 1.5"));
  EXPECT_THAT(said(lr::OneCycle{.rising = 0.6, .three_phases = true}), HasSubstr("must be between 0 and 0.5"));
  EXPECT_THAT(said(lr::OneCycle{.div_factor = 0}), HasSubstr("div_factor is 0"));
  EXPECT_THAT(said(lr::CosineWarmRestarts{.longer = 0}), HasSubstr("longer is 0"));
  EXPECT_THAT(said(lr::Polynomial{.power = -1}), HasSubstr("power is -1"));
  EXPECT_THAT(said(lr::MultiStep{.milestones = {3, 3}}), HasSubstr("milestone 3 after 3"));
  EXPECT_THAT(said(lr::Cyclic{.steps_down = 0}), HasSubstr("steps_down is 0"));
  EXPECT_THAT(said(lr::Cyclic{.min_lr = -1}), HasSubstr("min_lr is -1"));
  EXPECT_THAT(test::error_of([] { lr::ReduceOnPlateau{.factor = 1}.tell(1); }), HasSubstr("factor is 1"));
  EXPECT_THAT(test::error_of([] { lr::ReduceOnPlateau{.patience = -1}.tell(1); }), HasSubstr("patience is -1"));
}

}  // namespace
}  // namespace burn
