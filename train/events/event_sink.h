// The interface of receivers of a training's events: renderers, loggers, dashboards.
#pragma once

#include "train/events/event.h"

namespace burn::train::events {

// Called by the thread of an EventStream, never by the training thread. If event() or flush() throws, the sink is not
// called any more, the other sinks get a message, and the training continues.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event) = 0;
  // Called after each batch of events, about 50 times per second at most.
  virtual void flush() {}
  // Messages of this sink for all sinks; called once, before the first event.
  virtual std::vector<Message> notices() { return {}; }
  virtual std::string name() const { return "an event sink"; }  // for messages
};

}  // namespace burn::train::events
