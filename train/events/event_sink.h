// What is told the events of a training: renderers, loggers, dashboards.
#pragma once

#include "train/events/event.h"

namespace burn::train::events {

// Called by the thread of an EventStream, never by the thread that trains. What event() or flush() throws ends the
// sink, with a message to the others; the training goes on.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event) = 0;
  // After the events that came together, some 50 times a second at most.
  virtual void flush() {}
  // What the others are to be told of the sink, asked for once, before the first event.
  virtual std::vector<Message> notices() { return {}; }
  virtual std::string name() const { return "an event sink"; }  // in messages
};

}  // namespace burn::train::events
