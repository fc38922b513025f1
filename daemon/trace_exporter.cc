#include "daemon/trace_exporter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/thread.h"
#include "daemon/log.h"
#include "daemon/operator/client.h"

namespace burn::daemon {
namespace {

std::mt19937_64 seeded() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  return std::mt19937_64{seed};
}

// "HOST:PID", which tells workers of one collector apart.
std::string this_instance() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return fmt::format("{}:{}", host.data(), ::getpid());
}

}  // namespace

TraceExporter::TraceExporter(OtlpUrl url, std::uint64_t one_in, std::string_view title)
    : url_(std::move(url)),
      one_in_(std::max<std::uint64_t>(one_in, 1)),
      service_(title.substr(0, title.find(' '))),
      version_(title.substr(std::min(title.size(), title.rfind(' ') + 1))),
      instance_(this_instance()),
      random_(seeded()),
      thread_(start_thread("burn-otlp", [this] { run(); })) {}

TraceExporter::~TraceExporter() {
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TraceExporter::add(serving::RunTrace trace) {
  {
    const std::lock_guard lock{mutex_};
    if (waiting_.size() >= kMaxWaiting) {
      ++lost_;
      return;
    }
    waiting_.push_back(std::move(trace));
    if (waiting_.size() > 1) return;
  }
  changed_.notify_all();
}

void TraceExporter::run() {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> end;  // once it is to end
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
    changed_.wait_for(lock, kPause, [&] { return is_stopping_ || waiting_.size() >= kMaxTogether; });
    if (waiting_.empty()) return;
    if (is_stopping_ && !end) end = Clock::now() + kAtEnd;
    const auto left = end ? std::chrono::floor<std::chrono::milliseconds>(*end - Clock::now()) : kTimeout;
    if (left.count() <= 0) {
      lost_ += waiting_.size();
      return;
    }
    std::deque<serving::RunTrace> some;
    while (!waiting_.empty() && some.size() < kMaxTogether) {
      some.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    send(some, left);
    lock.lock();
  }
}

TraceIds TraceExporter::make_ids() {
  const auto id = [this] { return std::max<std::uint64_t>(random_(), 1); };  // 0 stands for none
  return {.trace_high = id(), .trace_low = id(), .run = id(), .queue = id(), .execute = id()};
}

void TraceExporter::send(const std::deque<serving::RunTrace>& traces, std::chrono::milliseconds timeout) {
  std::string spans;
  for (const auto& trace : traces) {
    if (!spans.empty()) spans += ',';
    spans += otlp_spans(trace, make_ids());
  }
  const auto body = otlp_request(service_, version_, instance_, spans);
  const auto answer = post_to(url_.address, url_.path, "application/json", body, timeout);
  const auto why = !answer.ok()                      ? answer.status().message()
                   : *answer >= 200 && *answer < 300 ? std::string{}
                                                     : fmt::format("it answers with status {}", *answer);
  (why.empty() ? sent_ : lost_) += traces.size();
  const bool has_failed = !why.empty();
  if (has_failed && !has_failed_)
    log_warning(fmt::format("the collector of traces at {} does not take them: {}", url_.address, why));
  if (!has_failed && has_failed_) log_info(fmt::format("the collector of traces at {} takes them again", url_.address));
  has_failed_ = has_failed;
}

}  // namespace burn::daemon
