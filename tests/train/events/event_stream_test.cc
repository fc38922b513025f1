// Events from the training thread to the sinks: which arrive, in which order, and which are merged.
#include "train/events/event_stream.h"

#include <chrono>
#include <cmath>
#include <future>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::train::events {
namespace {

using ::testing::HasSubstr;

struct Recorder : EventSink {
  std::vector<Event> events;
  void event(const Event& event) override { events.push_back(event); }

  template <typename Body>
  std::vector<Body> of() const {
    std::vector<Body> found;
    for (const auto& event : events) {
      if (const auto* body = std::get_if<Body>(&event.body)) found.push_back(*body);
    }
    return found;
  }
};

// Blocks in its first event until `may_go_on` is set.
struct BlockingRecorder : Recorder {
  std::promise<void> begun;
  std::shared_future<void> may_go_on;
  void event(const Event& event) override {
    if (events.empty()) {
      begun.set_value();
      may_go_on.wait();
    }
    Recorder::event(event);
  }
};

TEST(EventStream, DeliversInOrderWhatIsNotMerged) {
  const auto sink = std::make_shared<Recorder>();
  {
    EventStream stream{{sink}};
    for (int i = 0; i < 1000; ++i) stream.publish(Message{.text = std::to_string(i)});
  }
  const auto messages = sink->of<Message>();
  ASSERT_EQ(messages.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(messages[static_cast<std::size_t>(i)].text, std::to_string(i));
}

TEST(EventStream, NeverWaitsForASinkAndLosesNoPointEpochOrMessage) {
  std::promise<void> go_on;
  const auto sink = std::make_shared<BlockingRecorder>();
  sink->may_go_on = go_on.get_future().share();
  EventStream stream{{sink}};
  stream.publish(Message{.text = "first"});
  sink->begun.get_future().wait();
  constexpr int kPoints = 100'000;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 1; step <= kPoints; ++step) {
    stream.publish(MetricPoint::of(0, Split::train, step, step));
    stream.publish(Progress{.items = step});
    if (step % 1000 == 0) stream.publish(EpochEnd{.epoch = step / 1000});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{10});  // the sink still blocks
  go_on.set_value();
  stream.flush();
  EXPECT_EQ(sink->of<EpochEnd>().size(), 100u);
  std::int64_t count = 0, last = 0;
  for (const auto& point : sink->of<MetricPoint>()) {
    EXPECT_EQ(point.first_step, last + 1);
    count += point.count;
    last = point.step;
  }
  EXPECT_EQ(count, kPoints);
  EXPECT_EQ(last, kPoints);
  EXPECT_EQ(sink->of<Progress>().back().items, kPoints);
}

TEST(EventStream, PutsMergedPointsBeforeTheEndOfTheirEpoch) {
  const auto sink = std::make_shared<Recorder>();
  EventStream stream{{sink}};
  for (int step = 1; step <= 3; ++step) stream.publish(MetricPoint::of(1, Split::train, step, step));
  stream.publish(EpochEnd{});
  stream.publish(MetricPoint::of(1, Split::train, 4, 9));
  stream.flush();
  ASSERT_GE(sink->events.size(), 3u);
  EXPECT_EQ(std::get<MetricPoint>(sink->events.back().body).first_step, 4);
  EXPECT_TRUE(std::holds_alternative<EpochEnd>(sink->events[sink->events.size() - 2].body));
}

TEST(EventStream, HandsOverAtMostFiftyPointsASecond) {
  const auto sink = std::make_shared<Recorder>();
  EventStream stream{{sink}};
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  for (int step = 1; elapsed() < 0.3; ++step) stream.publish(MetricPoint::of(0, Split::train, step, 1));
  stream.flush();
  EXPECT_LE(static_cast<double>(sink->of<MetricPoint>().size()), 50 * elapsed() + 2);
}

TEST(EventStream, GoesOnWithoutASinkThatThrowsAndSaysSo) {
  struct Failing : EventSink {
    int calls = 0;
    void event(const Event&) override {
      ++calls;
      throw std::runtime_error("disk full");
    }
    std::string name() const override { return "the CSV logger"; }
  };
  const auto failing = std::make_shared<Failing>();
  const auto sink = std::make_shared<Recorder>();
  EventStream stream{{failing, sink}};
  stream.publish(EpochEnd{});
  stream.publish(EpochEnd{});
  stream.flush();
  EXPECT_EQ(failing->calls, 1);
  EXPECT_EQ(sink->of<EpochEnd>().size(), 2u);
  ASSERT_EQ(sink->of<Message>().size(), 1u);
  EXPECT_THAT(sink->of<Message>()[0].text, HasSubstr("the CSV logger failed"));
  EXPECT_THAT(sink->of<Message>()[0].text, HasSubstr("disk full"));
}

TEST(EventStream, TellsObserversAtOnceAndThrowsWhatTheyThrow) {
  std::vector<std::int64_t> steps;
  EventStream stream{{}, {[&](const Event& event) { steps.push_back(std::get<MetricPoint>(event.body).step); }}};
  for (int step = 1; step <= 100; ++step) stream.publish(MetricPoint::of(0, Split::train, step, 1));
  EXPECT_EQ(steps.size(), 100u);
  EventStream throwing{{}, {[](const Event&) { throw std::runtime_error("enough"); }}};
  EXPECT_THROW(throwing.publish(EpochEnd{}), std::runtime_error);
}

TEST(MetricPoint, CountsWhatIsNotFiniteApart) {
  auto point = MetricPoint::of(0, Split::train, 1, std::nan(""));
  point.add(MetricPoint::of(0, Split::train, 2, 1));
  point.add(MetricPoint::of(0, Split::train, 3, 4));
  EXPECT_EQ(point.not_finite, 1);
  EXPECT_EQ(point.count, 2);
  EXPECT_DOUBLE_EQ(point.mean, 2.5);
  EXPECT_EQ(point.min, 1);
  EXPECT_EQ(point.max, 4);
  EXPECT_EQ(point.step, 3);
}

TEST(Advice, IsAboutTheLargestShareThatCanBeMended) {
  EXPECT_EQ(advice({.waiting_for_data = 14, .recording = 20, .waiting_for_numbers = 5, .checkpoint = 61}),
            "61 % of the time writes checkpoints: write fewer");
  EXPECT_EQ(advice({.waiting_for_data = 38, .recording = 2, .waiting_for_numbers = 60, .workers = 2, .cores = 16}),
            "38 % of the time waits for the loader: num_workers 2 of 16 cores");
  EXPECT_EQ(advice({.waiting_for_data = 9, .waiting_for_numbers = 91}),
            "the device is the limit: 91 % of the time waits for it");
  EXPECT_EQ(advice({.other = 5}), "");
}

TEST(ValueFormat, WritesDigitsUnitAndExponent) {
  EXPECT_EQ(format_value({}, 0.12345), "0.1235");
  EXPECT_EQ(format_value({.decimals = 1, .unit = " %"}, 96.14), "96.1 %");
  EXPECT_EQ(format_value({.decimals = 2, .scientific = true}, 0.001), "1.00e-03");
}

}  // namespace
}  // namespace burn::train::events
