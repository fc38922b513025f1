// Passes events from the training thread to the sinks: one bounded queue, and one thread that calls the sinks.
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

// publish() may be called by any thread; it takes a lock for some ten nanoseconds and does not wait for sinks. Points
// of one metric and split within 20 ms are merged into one, so that a sink gets at most 50 per second of each; of
// progress only the newest is kept. All other events are delivered, in order, between the points published before and
// after. While the queue is full because sinks are slow, points and progress are merged further; no other event is
// dropped.
class EventStream {
 public:
  // From this length of the queue on, points and progress stay merged outside of it.
  static constexpr std::size_t kCapacity = 8192;

  // Called by publish() itself, with every event, before the sinks: this delays the training thread. Exceptions
  // propagate through publish().
  using Observer = std::function<void(const Event&)>;

  // Starts the thread, unless there are no sinks.
  explicit EventStream(std::vector<std::shared_ptr<EventSink>> sinks, std::vector<Observer> observers = {});
  ~EventStream();  // delivers the remaining events, then ends the thread
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void publish(Body body);
  // False: there are neither observers nor sinks, so published events have no effect.
  bool is_watched() const { return !observers_.empty() || thread_.joinable(); }
  // Blocks until the sinks have received all events published before.
  void flush();

 private:
  struct Batch {
    std::deque<Event> events;
    std::uint64_t published = 0;  // number of events published up to the end of this batch
  };

  void merge(const Event& point);
  void queue_merged();  // moves merged points and progress to the queue
  void run();
  std::optional<Batch> next();
  void deliver(const Event& event);
  template <typename Call>
  void tell(std::size_t sink, Call&& call);

  std::vector<std::shared_ptr<EventSink>> sinks_;  // used by the thread; null: the sink has failed
  const std::vector<Observer> observers_;
  std::mutex mutex_;
  std::condition_variable changed_, delivered_;
  std::deque<Event> queue_;
  std::vector<std::array<std::optional<Event>, kSplits>> points_;  // merged points, by metric and split
  bool has_points_ = false;
  std::optional<Event> progress_;
  std::uint64_t published_ = 0, done_ = 0;
  bool is_urgent_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace burn::train::events
