// Sends spans of runs to a collector of OpenTelemetry's, over HTTP.
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

// Thread-safe. Runs never wait for the collector: a thread of its own sends, and a run for which there is no room, or
// which the collector does not take, is counted as lost and not sent again.
class SpanExporter final : public SpanSink {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;            // runs
  static constexpr std::size_t kMaxTogether = 256;            // runs in one request
  static constexpr std::uint64_t kMaxAsked = 1000;            // runs a second that callers ask for
  static constexpr std::chrono::milliseconds kPause{500};     // before a request, for further runs to come
  static constexpr std::chrono::milliseconds kTimeout{2000};  // of a request
  static constexpr std::chrono::milliseconds kAtEnd{1000};    // of all requests that begin when it is stopped

  struct Options {
    OtlpUrl url;
    std::uint64_t one_in = 1000;  // of so many runs that no caller traces one is recorded; 0 is as 1
    OtlpResource resource = {};   // as resource_of() makes it
    // Told on the exporter's thread when requests begin to fail (with why), and when they succeed again (ok).
    std::function<void(const Status&)> on_change = {};
  };

  explicit SpanExporter(Options options);
  ~SpanExporter() override;  // stop()

  std::optional<TraceContext> choose(const TraceContext& caller) override;
  void add(std::vector<Span> spans) override;
  // Sends what waits, as far as kAtEnd allows. What is added later is lost. Idempotent.
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
  std::deque<std::vector<Span>> waiting_;  // of each run its spans. Guarded by `mutex_`.
  bool is_stopping_ = false;               // Guarded by `mutex_`.
  Clock::time_point asked_since_{};        // the second in which asked_ counts. Guarded by `mutex_`.
  std::uint64_t asked_ = 0;                // Guarded by `mutex_`.
  bool has_failed_ = false;                // the last request; of the thread
  std::mutex join_mutex_;
  std::thread thread_;  // Guarded by `join_mutex_`.
};

// Of this process. `title`: "burn-server 0.1.0", the last word of which is the version.
OtlpResource resource_of(std::string_view title);

}  // namespace burn::net
