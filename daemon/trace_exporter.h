// Sends one run of so many to a collector of OpenTelemetry's, over HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "base/status.h"
#include "daemon/otlp.h"
#include "serving/run_trace.h"

namespace burn::daemon {

// Thread-safe. Runs never wait for the collector: a thread of its own sends, and a run for which there is no room, or
// which the collector does not take, is counted as lost and not sent again.
class TraceExporter final : public serving::RunTraces {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;            // runs
  static constexpr std::size_t kMaxTogether = 256;            // runs in one request
  static constexpr std::chrono::milliseconds kPause{500};     // before a request, for further runs to come
  static constexpr std::chrono::milliseconds kTimeout{2000};  // of a request
  static constexpr std::chrono::milliseconds kAtEnd{1000};    // of all requests that begin when it is destroyed

  // `title`: "burn-server 0.1.0". `one_in`: of so many runs one is sent; at least 1.
  TraceExporter(OtlpUrl url, std::uint64_t one_in, std::string_view title);
  // Sends what waits, as far as kAtEnd allows.
  ~TraceExporter() override;

  bool is_chosen() override { return runs_.fetch_add(1, std::memory_order_relaxed) % one_in_ == 0; }
  void add(serving::RunTrace trace) override;

  std::uint64_t sent() const { return sent_; }  // runs
  std::uint64_t lost() const { return lost_; }

 private:
  void run();
  void send(const std::deque<serving::RunTrace>& traces, std::chrono::milliseconds timeout);
  TraceIds make_ids();

  const OtlpUrl url_;
  const std::uint64_t one_in_;
  const std::string service_, version_, instance_;
  std::atomic<std::uint64_t> runs_ = 0, sent_ = 0, lost_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<serving::RunTrace> waiting_;  // Guarded by `mutex_`.
  bool is_stopping_ = false;               // Guarded by `mutex_`.
  std::mt19937_64 random_;                 // of the thread
  bool has_failed_ = false;                // the last request; of the thread
  std::thread thread_;
};

}  // namespace burn::daemon
