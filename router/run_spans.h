// Records spans for a run of a session on all workers: "run", and within it "queue", "group", "split" and "send".
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "proto/session.h"

namespace burn::router {

// For one run; used by one thread.
class RunSpans {
 public:
  using Clock = std::chrono::system_clock;

  // Decides whether the run is recorded; if so, stores the run's span in `run` as the parent of the workers' spans.
  // `spans`: null: nothing is recorded. `queued`: how long the call has waited.
  RunSpans(SpanSink* spans, proto::Run& run, std::chrono::nanoseconds queued);

  // Starts a part of the run, and ends the part before it. `name` is a literal.
  void begin(std::string_view name);
  // Adds an attribute to the current part.
  void say(Span::Attribute attribute);
  // Ends the run: all calls are sent, or the run was refused.
  void finish(StatusCode result);

 private:
  void end_part(Clock::time_point now);

  SpanSink* const spans_;
  std::vector<Span> recorded_;  // the run's span, then those of its parts; empty: the run is not recorded
  bool has_part_ = false;       // the last span has not ended yet
};

}  // namespace burn::router
