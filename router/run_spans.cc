#include "router/run_spans.h"

#include <utility>

namespace burn::router {

RunSpans::RunSpans(SpanSink* spans, proto::Run& run, std::chrono::nanoseconds queued) : spans_(spans) {
  if (!spans_) return;
  const auto trace = spans_->choose(run.trace);
  if (!trace) return;
  const auto now = Clock::now(), received = now - std::chrono::duration_cast<Clock::duration>(queued);
  recorded_.push_back(
      {.trace = *trace, .id = new_span_id(), .kind = Span::Kind::server, .name = "run", .begin = received});
  run.trace = within(*trace, recorded_.front().id);
  recorded_.push_back({.trace = run.trace, .id = new_span_id(), .name = "queue", .begin = received, .end = now});
}

void RunSpans::begin(std::string_view name) {
  if (recorded_.empty()) return;
  const auto now = Clock::now();
  end_part(now);
  const auto& run = recorded_.front();
  recorded_.push_back({.trace = within(run.trace, run.id), .id = new_span_id(), .name = name, .begin = now});
  has_part_ = true;
}

void RunSpans::say(Span::Attribute attribute) {
  if (has_part_) recorded_.back().attributes.push_back(std::move(attribute));
}

void RunSpans::finish(StatusCode result) {
  if (recorded_.empty()) return;
  const auto now = Clock::now();
  end_part(now);
  recorded_.front().end = now;
  recorded_.front().result = result;
  spans_->add(std::exchange(recorded_, {}));
}

void RunSpans::end_part(Clock::time_point now) {
  if (std::exchange(has_part_, false)) recorded_.back().end = now;
}

}  // namespace burn::router
