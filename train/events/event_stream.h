// From the thread that trains to those that watch: one bounded queue and one thread that hands events to the sinks.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "train/events/event_sink.h"

namespace burn::train::events {

// publish() may be called by any thread; it takes a lock for some ten nanoseconds and waits for no sink. Points of one
// metric and split that come within 20 ms are merged into one, so that a sink has at most 50 a second of each; of
// progress only the newest is kept. Everything else arrives, in order, between the points published before and after.
// While sinks are so slow that the queue is full, points and progress are merged further; nothing else is left out.
class EventStream {
 public:
  // The events that the queue holds before points and progress stay merged outside of it.
  static constexpr std::size_t kCapacity = 8192;

  // Called by publish() itself, with every event, before the sinks: this delays the thread that trains. What it throws,
  // publish() throws.
  using Observer = std::function<void(const Event&)>;

  // Starts the thread, unless there are no sinks.
  explicit EventStream(std::vector<std::shared_ptr<EventSink>> sinks, std::vector<Observer> observers = {});
  ~EventStream();  // hands out what is left, then ends the thread
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void publish(Body body);
  // False: nothing becomes of what is published.
  bool is_watched() const { return !observers_.empty() || thread_.joinable(); }
  // Blocks until the sinks have been given all that was published before.
  void flush();

 private:
  struct Batch {
    std::deque<Event> events;
    std::uint64_t published = 0;  // up to and with these
  };

  void merge(const Event& point);
  void queue_merged();  // what was merged, before what comes next
  void run();
  std::optional<Batch> next();
  void deliver(const Event& event);
  template <typename Call>
  void tell(std::size_t sink, Call&& call);

  std::vector<std::shared_ptr<EventSink>> sinks_;  // of the thread; null: it has failed
  const std::vector<Observer> observers_;
  std::mutex mutex_;
  std::condition_variable changed_, delivered_;
  std::deque<Event> queue_;
  std::vector<std::array<std::optional<Event>, kSplits>> points_;  // by metric, merged
  bool has_points_ = false;
  std::optional<Event> progress_;
  std::uint64_t published_ = 0, done_ = 0;
  bool is_urgent_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace burn::train::events
