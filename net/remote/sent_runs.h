// Spans of the runs that a conversation sends, each from the call until the server reports its execution.
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

  // `spans`: null: runs have no spans. `url`: the server's.
  SentRuns(std::shared_ptr<SpanSink> spans, std::string url) : spans_(std::move(spans)), url_(std::move(url)) {}

  bool are_recorded() const { return spans_ != nullptr; }
  // Called before the run is sent as the ordered frame `seq`. If the run is recorded, its trace context is set to its
  // span. `called`: when the run was called; since then it has waited for the window.
  void add(proto::Run& run, std::uint64_t seq, Clock::time_point called);
  // The server has executed the frames up to `seq`.
  void acknowledge(std::uint64_t seq);
  // Ends all spans: nothing more is executed, for this reason.
  void end(StatusCode why);

 private:
  struct Sent {
    std::uint64_t seq;
    Span span;
  };
  void finish_first(StatusCode result);

  const std::shared_ptr<SpanSink> spans_;
  const std::string url_;
  std::deque<Sent> sent_;  // runs that are not executed yet
};

}  // namespace burn::net
