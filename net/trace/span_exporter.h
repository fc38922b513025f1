// Sends the spans of runs to an OpenTelemetry collector, over HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/span.h"
#include "net/trace/otlp.h"

namespace burn::net {

// Thread-safe. Runs never wait for the collector: a thread of the exporter sends. A run for which there is no room, or
// which the collector does not accept, is counted as lost and not sent again.
class SpanExporter final : public SpanSink {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;            // runs
  static constexpr std::size_t kMaxTogether = 256;            // runs in one request
  static constexpr std::uint64_t kMaxAsked = 1000;            // runs per second recorded on request of their callers
  static constexpr std::chrono::milliseconds kPause{500};     // before a request, to collect further runs
  static constexpr std::chrono::milliseconds kTimeout{2000};  // of a request
  static constexpr std::chrono::milliseconds kAtEnd{1000};    // for all requests that begin after stop()

  struct Options {
    OtlpUrl url;
    std::uint64_t one_in = 1000;  // one of this many runs is recorded, of those without a traced caller; 0: as 1
    OtlpResource resource = {};   // as resource_of() makes it
    // Called on the exporter's thread when requests begin to fail (with the reason), and when they succeed again (ok).
    std::function<void(const Status&)> on_change = {};
  };

  explicit SpanExporter(Options options);
  ~SpanExporter() override;  // stop()

  std::optional<TraceContext> choose(const TraceContext& caller) override;
  void add(std::vector<Span> spans) override;
  // Sends the waiting runs, as far as kAtEnd allows. Runs added later are lost. Idempotent.
  void stop();

  std::uint64_t sent() const { return sent_; }  // runs
  std::uint64_t lost() const { return lost_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool may_ask();
  void run();
  void send(const std::deque<std::vector<Span>>& runs, std::chrono::milliseconds timeout);

  const Options options_;
  std::atomic<std::uint64_t> runs_ = 0, sent_ = 0, lost_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Span>> waiting_;  // the spans of each run. Guarded by `mutex_`.
  bool is_stopping_ = false;               // Guarded by `mutex_`.
  Clock::time_point asked_since_{};        // start of the second that asked_ counts. Guarded by `mutex_`.
  std::uint64_t asked_ = 0;                // Guarded by `mutex_`.
  bool has_failed_ = false;                // the last request failed; used by the thread only
  std::mutex join_mutex_;
  std::thread thread_;  // Guarded by `join_mutex_`.
};

// Describes this process. `title`: "burn-server 0.1.0", whose last word is the version.
OtlpResource resource_of(std::string_view title);

}  // namespace burn::net
