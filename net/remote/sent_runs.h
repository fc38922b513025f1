// Spans of the runs that a conversation sends: each from its call until the server says that it is executed.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/span.h"
#include "proto/session.h"

namespace burn::net {

// Not thread-safe.
class SentRuns {
 public:
  using Clock = std::chrono::system_clock;

  // `spans`: null: no run has a span. `url`: of the server.
  SentRuns(std::shared_ptr<SpanSink> spans, std::string url) : spans_(std::move(spans)), url_(std::move(url)) {}

  bool are_recorded() const { return spans_ != nullptr; }
  // The run is sent as the ordered frame `seq`. If it is recorded, the server is told this span as the caller's.
  // `called`: when the run was called; since then it has waited for the window.
  void add(proto::Run& run, std::uint64_t seq, Clock::time_point called);
  // The server has executed what was sent up to `seq`.
  void acknowledge(std::uint64_t seq);
  // Nothing more is executed, for this reason.
  void end(StatusCode why);

 private:
  struct Sent {
    std::uint64_t seq;
    Span span;
  };
  void finish_first(StatusCode result);

  const std::shared_ptr<SpanSink> spans_;
  const std::string url_;
  std::deque<Sent> sent_;  // that are not executed yet
};

}  // namespace burn::net
