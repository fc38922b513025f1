// The terminal dashboard without a terminal: series, charts, the text on the screen, the effect of keys.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/events/made_up_run.h"
#include "train/dashboard/terminal/chart.h"
#include "train/dashboard/terminal/view.h"

namespace burn::train::dashboard {
namespace {

using events::made_up_run;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

RunState run_of(const std::vector<events::Event>& events) {
  RunState state;
  for (const auto& event : events) state.add(event);
  return state;
}

std::string screen(const RunState& run, const ViewState& view, int width = 80, int height = 24) {
  Frame frame{width, height};
  const std::deque<std::string> output{"first line", "written by the program"};
  draw(frame, run, view, {run.last_us() + 1'000'000, &output});
  std::string text;
  for (int y = 0; y < height; ++y) text += frame.line(y) + "\n";
  return text;
}

TEST(Series, KeepsAHundredThousandPointsInFewBuckets) {
  Series series;
  constexpr std::int64_t kPoints = 100'000;
  for (std::int64_t step = 1; step <= kPoints; ++step)
    series.add(events::MetricPoint::of(0, Split::train, step, static_cast<double>(step)));
  EXPECT_LE(series.buckets().size(), Series::kBuckets);
  EXPECT_GE(series.buckets().size(), Series::kBuckets / 2);
  EXPECT_EQ(series.points(), kPoints);
  std::int64_t count = 0, last = 0;
  for (const auto& bucket : series.buckets()) {
    EXPECT_EQ(bucket.first_step, last + 1);
    EXPECT_DOUBLE_EQ(bucket.mean, static_cast<double>(bucket.first_step + bucket.step) / 2);
    EXPECT_EQ(bucket.min, static_cast<double>(bucket.first_step));
    EXPECT_EQ(bucket.max, static_cast<double>(bucket.step));
    count += bucket.count;
    last = bucket.step;
  }
  EXPECT_EQ(count, kPoints);
  EXPECT_EQ(series.recent().size(), Series::kRecent);
}

TEST(RunState, OfAResumedRunHasEachStepOnceAndTheRightBestEpoch) {
  auto state = run_of(made_up_run(4));
  ASSERT_NE(state.curve(0, Split::valid).best(), nullptr);
  EXPECT_EQ(state.curve(0, Split::valid).best()->epoch, 2);
  auto start = events::made_up_start();
  start.resumed = true;
  start.epoch = 1;
  start.step = 100;
  state.add({1, start});
  EXPECT_EQ(state.curve(0, Split::valid).best()->epoch, 1);
  EXPECT_EQ(state.curve(0, Split::train).steps.buckets().back().step, 100);
  for (const auto& event : events::made_up_epoch(2)) state.add(event);
  EXPECT_EQ(state.curve(0, Split::valid).best()->epoch, 2);
  EXPECT_EQ(state.curve(0, Split::train).steps.buckets().size(), 200u);
}

TEST(RunState, EstimatesTheTimeLeftWithValidationInIt) {
  auto state = run_of(made_up_run(1));
  events::Progress progress{.split = Split::train, .epoch = 2, .epochs = 4, .items = 400, .total_items = 800};
  progress.seconds = 2;
  progress.items_per_second = 200;
  progress.seconds_left = 2;
  state.add({1, progress});
  EXPECT_DOUBLE_EQ(state.seconds_left().value(), 2 + 1 + 2 * (4 + 1));
}

TEST(Ticks, AreRoundAndInside) {
  EXPECT_THAT(ticks(0, 1, 5), ElementsAre(0, 0.2, 0.4, ::testing::DoubleEq(0.6), 0.8, 1));
  EXPECT_THAT(log_ticks(0.01, 1, 3), ElementsAre(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1));
  EXPECT_EQ(tick_text(20000), "20k");
  EXPECT_EQ(tick_text(0.00002), "2.0e-05");
}

TEST(Chart, OfNumbersAtTheEndsOfTheirRangeIsDrawn) {
  for (const bool is_log : {false, true}) {
    Chart chart{.logarithmic = is_log};
    chart.lines = {{{{1, 5e-324}, {2, 1.7e308}, {3, -1.7e308}, {4, HUGE_VAL}, {5, 1}, {6, 1e299}}, Color::cyan}};
    chart.marks = {{{6, 1.7e308}, U'x', Color::green}};
    Frame frame{80, 24};
    draw(frame, {0, 0, 80, 24}, chart);
    std::string text;
    for (int y = 0; y < 24; ++y) text += frame.line(y) + "\n";
    EXPECT_THAT(text, HasSubstr(is_log ? "1.0e+270┤" : "1.0e+299┤"));
  }
}

TEST(Chart, EndsAtTicks) {
  Chart chart;
  chart.lines = {{{{0, 0.08}, {100, 0.95}}, Color::cyan}};
  Frame frame{80, 11};
  draw(frame, {0, 0, 80, 11}, chart);
  EXPECT_THAT(frame.line(0), HasSubstr("1┤"));
  EXPECT_THAT(frame.line(8), HasSubstr("0┤"));
}

TEST(Smoothing, OfAConstantIsTheConstantAndLeavesNaNAlone) {
  const auto smoothed = smooth({{1, 3}, {2, std::nan("")}, {3, 3}}, 0.9);
  EXPECT_DOUBLE_EQ(smoothed[0].y, 3);
  EXPECT_TRUE(std::isnan(smoothed[1].y));
  EXPECT_DOUBLE_EQ(smoothed[2].y, 3);
}

TEST(View, ShowsTabsCurveStatusAndOutputAt80By24) {
  const auto text = screen(run_of(made_up_run(3)), {});
  EXPECT_THAT(text, HasSubstr("first-run  on cpu"));
  EXPECT_THAT(text, HasSubstr(" Loss   Accuracy"));
  EXPECT_THAT(text, HasSubstr("full history"));
  EXPECT_THAT(text, HasSubstr("best 0.3000 in epoch 2"));
  EXPECT_THAT(text, HasSubstr("epoch 3/4   step 300   rate 0.001   200 items/s"));
  EXPECT_THAT(text, HasSubstr("checkpoint of step 300"));
  EXPECT_THAT(text, HasSubstr("last epoch: train loss 0.1667 acc 80.0 %"));
  EXPECT_THAT(text, HasSubstr("written by the program"));
  EXPECT_THAT(text, HasSubstr("total"));
  EXPECT_THAT(text, HasSubstr("◆"));
  const auto frame_lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_EQ(frame_lines, 24);
}

TEST(View, ShowsTheMemoryAndUseOfTheDeviceWhileTheTrainingRuns) {
  auto run = run_of(made_up_run(3));
  run.set_device_use(events::DeviceUse{3'250'000'000, 79'100'000'000, 0.85});
  EXPECT_THAT(screen(run, {}), HasSubstr("first-run  on cpu  memory 3.25/79.10 GB, use 85 %"));
  auto start = run.start();
  start.device = "ws://" + std::string(30, 'h') + ":3000";  // too long to fit the memory into the first line
  start.resumed = true;
  run.add({1, start});
  EXPECT_THAT(screen(run, {}), HasSubstr("ago   memory 3.25/79.10 GB, use 85 %"));
  run.add({2, events::End{}});
  EXPECT_THAT(screen(run, {}), Not(HasSubstr("memory")));
}

TEST(View, IsDrawnAtAnySizeWithoutLeavingTheFrame) {
  const auto run = run_of(made_up_run(3));
  for (int width = 1; width <= 200; width += 7) {
    for (int height = 1; height <= 60; height += 5) {
      for (const auto pane : {Pane::full, Pane::recent, Pane::summary}) {
        (void)screen(run, {.pane = pane, .help = true, .asks_to_stop = true}, width, height);
        (void)screen(RunState{}, {.pane = pane}, width, height);
      }
    }
  }
}

TEST(View, MarksWhatIsNotFinite) {
  auto run = run_of(made_up_run(1));
  EXPECT_THAT(screen(run, {}), Not(HasSubstr("✗")));
  run.add({1, events::MetricPoint::of(0, Split::train, 101, std::nan(""))});
  EXPECT_THAT(screen(run, {}), HasSubstr("✗"));
}

TEST(View, ThatIsLogarithmicHasPowersOfTen) {
  const auto text = screen(run_of(made_up_run(4)), {.logarithmic = true}, 120, 40);
  EXPECT_THAT(text, HasSubstr("log scale"));
  EXPECT_THAT(text, HasSubstr("0.1┤"));
}

TEST(View, OfTheSummaryNamesTheBestEpochs) {
  const auto text = screen(run_of(made_up_run(3)), {.pane = Pane::summary});
  EXPECT_THAT(text, HasSubstr("Loss                 valid        0.4000       0.3000       2"));
  EXPECT_THAT(text, HasSubstr("Accuracy             valid        89.0 %       90.0 %       2"));
}

TEST(View, OfAMetricWhoseResultIsATextIsThatText) {
  auto all = made_up_run(1);
  std::get<events::Start>(all.front().body).metrics.push_back({"Confusion Matrix", "confusion", false, {}});
  const auto time = all.back().time_us;
  all.push_back({time, events::TextPoint{"Confusion Matrix", Split::train, 100, "actual cat\ncat 7"}});
  all.push_back({time, events::TextPoint{"Confusion Matrix", Split::valid, 100, "actual cat\ncat 5"}});
  all.push_back({time, events::TextPoint{"Unknown", Split::valid, 100, "nothing"}});
  const auto run = run_of(all);
  EXPECT_TRUE(run.is_text(2));
  EXPECT_FALSE(run.is_text(0));
  const auto text = screen(run, {.metric = 2});
  EXPECT_THAT(text, HasSubstr(" train         valid"));
  EXPECT_THAT(text, HasSubstr(" cat 7         cat 5"));
  EXPECT_THAT(text, Not(HasSubstr("full history")));
  EXPECT_THAT(screen(run, {.metric = 0}), HasSubstr("full history"));
  EXPECT_THAT(screen(run, {.metric = 2, .pane = Pane::summary}), Not(HasSubstr("Confusion Matrix     valid")));
}

TEST(Keys, ChooseMetricViewScaleAndSmoothing) {
  ViewState view;
  press(view, 2, Key::right);
  EXPECT_EQ(view.metric, 1u);
  press(view, 2, Key::right);
  EXPECT_EQ(view.metric, 0u);
  press(view, 2, Key::left);
  EXPECT_EQ(view.metric, 1u);
  press(view, 2, Key::down);
  EXPECT_EQ(view.pane, Pane::recent);
  press(view, 2, Key::up);
  press(view, 2, Key::up);
  EXPECT_EQ(view.pane, Pane::summary);
  press(view, 2, Key::other, 'l');
  press(view, 2, Key::other, '+');
  EXPECT_TRUE(view.logarithmic && view.smoothed);
  EXPECT_DOUBLE_EQ(view.smoothing, 0.95);
  press(view, 2, Key::other, 's');
  EXPECT_FALSE(view.smoothed);
  press(view, 2, Key::other, 'h');
  EXPECT_TRUE(view.help);
}

TEST(Keys, QAsksBeforeItStops) {
  const std::pair<char, Action> answers[] = {{'s', Action::stop_with_checkpoint},
                                             {'d', Action::stop_without_checkpoint},
                                             {'e', Action::end_at_once},
                                             {'c', Action::none}};
  for (const auto& [answer, action] : answers) {
    ViewState view;
    EXPECT_EQ(press(view, 1, Key::other, 'q'), Action::none);
    EXPECT_TRUE(view.asks_to_stop);
    EXPECT_EQ(press(view, 1, Key::other, 'x'), Action::none);
    EXPECT_TRUE(view.asks_to_stop) << "x is no answer";
    EXPECT_EQ(press(view, 1, Key::other, answer), action);
    EXPECT_FALSE(view.asks_to_stop);
  }
}

TEST(Tabs, AreFoundWhereTheyAreDrawn) {
  const auto run = run_of(made_up_run(1));
  EXPECT_EQ(tab_at(run, {}, 80, 2, 1), 0u);
  EXPECT_EQ(tab_at(run, {}, 80, 10, 1), 1u);
  EXPECT_EQ(tab_at(run, {}, 80, 60, 1), std::nullopt);
  EXPECT_EQ(tab_at(run, {}, 80, 2, 5), std::nullopt);
}

}  // namespace
}  // namespace burn::train::dashboard
