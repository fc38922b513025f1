#include "net/trace/span_exporter.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/thread.h"

namespace burn::net {

SpanExporter::SpanExporter(Options options)
    : options_(std::move(options)), thread_(start_thread("burn-otlp", [this] { run(); })) {}

SpanExporter::~SpanExporter() { stop(); }

void SpanExporter::stop() {
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  changed_.notify_all();
  const std::lock_guard lock{join_mutex_};
  if (thread_.joinable()) thread_.join();
}

std::optional<TraceContext> SpanExporter::choose(const TraceContext& caller) {
  if (caller.exists()) {
    if (!caller.is_sampled) return std::nullopt;
    if (may_ask()) return caller;
    ++lost_;
    return std::nullopt;
  }
  const auto before = runs_.fetch_add(1, std::memory_order_relaxed);
  return options_.one_in > 1 && before % options_.one_in != 0 ? std::nullopt : std::optional{new_trace()};
}

// Limits the runs that traced callers ask for: otherwise clients would decide how much work exporter and collector
// have.
bool SpanExporter::may_ask() {
  constexpr std::chrono::seconds kSecond{1};
  const auto now = Clock::now();
  const std::lock_guard lock{mutex_};
  if (now - asked_since_ >= kSecond) {
    asked_since_ = now;
    asked_ = 0;
  }
  return ++asked_ <= kMaxAsked;
}

void SpanExporter::add(std::vector<Span> spans) {
  {
    const std::lock_guard lock{mutex_};
    if (waiting_.size() >= kMaxWaiting || is_stopping_) {
      ++lost_;
      return;
    }
    waiting_.push_back(std::move(spans));
    if (waiting_.size() > 1 && waiting_.size() < kMaxTogether) return;
  }
  changed_.notify_all();
}

void SpanExporter::run() {
  std::optional<Clock::time_point> end;  // set once stop() was called
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
    std::deque<std::vector<Span>> some;
    while (!waiting_.empty() && some.size() < kMaxTogether) {
      some.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    send(some, left);
    lock.lock();
  }
}

void SpanExporter::send(const std::deque<std::vector<Span>>& runs, std::chrono::milliseconds timeout) {
  std::string json;
  for (const auto& spans : runs) {
    for (const auto& span : spans) json += (json.empty() ? "" : ",") + otlp_span(span);
  }
  const auto status = post_otlp(options_.url, otlp_request(options_.resource, json), timeout);
  (status.ok() ? sent_ : lost_) += runs.size();
  if (status.ok() == has_failed_ && options_.on_change) options_.on_change(status);
  has_failed_ = !status.ok();
}

OtlpResource resource_of(std::string_view title) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const auto space = title.rfind(' ');
  return {.service = std::string{title.substr(0, space)},
          .version = std::string{space == std::string_view::npos ? std::string_view{} : title.substr(space + 1)},
          .instance = fmt::format("{}:{}", host.data(), ::getpid())};
}

}  // namespace burn::net
