// What a router does with a run of a session on all workers, as spans: "run", and in it "queue", "group", "split" and
// "send".
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "proto/session.h"

namespace burn::router {

// Of one run, and one thread.
class RunSpans {
 public:
  using Clock = std::chrono::system_clock;

  // Chooses whether the run is recorded; then `run` names its span as the caller's of what is sent to the workers.
  // `spans`: null: nothing is recorded. `queued`: how long its call has waited.
  RunSpans(SpanSink* spans, proto::Run& run, std::chrono::nanoseconds queued);

  // A part of the run begins; the part before it, if there is one, ends. `name` is a literal.
  void begin(std::string_view name);
  // Of the part that is under way.
  void say(Span::Attribute attribute);
  // All is sent, or the run was refused.
  void finish(StatusCode result);

 private:
  void end_part(Clock::time_point now);

  SpanSink* const spans_;
  std::vector<Span> recorded_;  // the run's, then those in it; empty: the run is not recorded
  bool has_part_ = false;       // the last of them is under way
};

}  // namespace burn::router
