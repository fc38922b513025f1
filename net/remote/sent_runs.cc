#include "net/remote/sent_runs.h"

#include <utility>
#include <vector>

namespace burn::net {

void SentRuns::add(proto::Run& run, std::uint64_t seq, Clock::time_point called) {
  const auto trace = spans_->choose(run.trace);
  if (!trace) return;
  Span span{.trace = *trace, .id = new_span_id(), .kind = Span::Kind::client, .name = "call", .begin = called};
  span.attributes.push_back({"server.address", url_});
  span.attributes.push_back({"burn.wait.window", std::chrono::nanoseconds{Clock::now() - called}});
  run.trace = within(*trace, span.id);
  sent_.push_back({seq, std::move(span)});
}

void SentRuns::acknowledge(std::uint64_t seq) {
  while (!sent_.empty() && sent_.front().seq <= seq) finish_first(StatusCode::ok);
}

void SentRuns::end(StatusCode why) {
  while (!sent_.empty()) finish_first(why);
}

void SentRuns::finish_first(StatusCode result) {
  auto& span = sent_.front().span;
  span.end = Clock::now();
  span.result = result;
  std::vector<Span> spans;
  spans.push_back(std::move(span));
  sent_.pop_front();
  spans_->add(std::move(spans));
}

}  // namespace burn::net
