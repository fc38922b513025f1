#include "daemon/audit_log.h"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/thread.h"
#include "daemon/log.h"

namespace burn::daemon {
namespace {

using Kind = net::SessionEvent::Kind;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::opened:
      return "opened";
    case Kind::resumed:
      return "resumed";
    case Kind::refused:
      return "refused";
    case Kind::closed:
      return "closed";
  }
  return "";
}

// The start of a line, with the time and the event; the caller appends the rest and the end.
std::string begin_line(std::string_view what) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  return fmt::format("{{\"time\":\"{:%Y-%m-%dT%H:%M:%S}.{:03}Z\",\"event\":\"{}\"",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), now.time_since_epoch().count() % 1000,
                     what);
}

void add_text(std::string& line, std::string_view key, std::string_view text) {
  if (!text.empty()) line += fmt::format(",\"{}\":{}", key, json_text(text));
}

Status cannot_write(const std::string& path, std::string_view why) {
  return unavailable(fmt::format("the audit log {} cannot be written: {}", path, why));
}

}  // namespace

AuditLog::~AuditLog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Status AuditLog::open() {
  if (path_.empty()) return {};
  UniqueFd file{::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
  if (!file) {
    return cannot_write(path_, std::generic_category().message(errno));
  }
  const std::lock_guard lock{mutex_};
  next_file_ = std::move(file);
  if (!thread_.joinable()) thread_ = start_thread("burn-audit", [this] { run(); });
  changed_.notify_all();
  return {};
}

void AuditLog::write(const net::SessionEvent& event) {
  if (path_.empty()) return;
  if (event.kind == Kind::refused) {
    const std::int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    const std::lock_guard lock{mutex_};
    if (std::exchange(second_, now) != now) refused_ = 0;
    if (++refused_ > kMaxRefusedASecond) {
      ++lost_;
      return;
    }
  }
  auto line = begin_line(name_of(event.kind));
  add_text(line, "session", event.session);
  if (event.identity) {
    add_text(line, "tenant", event.identity->tenant);
    add_text(line, "identity", event.identity->proof);
  }
  add_text(line, "peer", event.peer);
  add_text(line, "client", event.client);
  add_text(line, "device", event.device);
  add_text(line, "reason", event.reason);
  if (event.stats) {
    const auto& stats = event.stats->session;
    line += fmt::format(",\"programs\":{},\"runs\":{},\"busy_seconds\":{:.6f},\"memory_peak_bytes\":{}",
                        event.stats->programs, stats.runs, stats.busy_seconds, stats.memory_peak);
  }
  add(std::move(line));
}

void AuditLog::write(std::string_view what, std::string_view outcome) {
  if (path_.empty()) return;
  auto line = begin_line(what);
  add_text(line, "outcome", outcome);
  add(std::move(line));
}

void AuditLog::add(std::string line) {
  line += "}\n";
  const std::lock_guard lock{mutex_};
  if (waiting_.size() >= kMaxWaiting || !thread_.joinable()) {
    note(cannot_write(path_, thread_.joinable() ? fmt::format("{} lines wait to be written", waiting_.size())
                                                : std::string{"it has not been opened"}));
    ++lost_;
    return;
  }
  waiting_.push_back(std::move(line));
  changed_.notify_all();
}

// Writes a whole line. After a partial write the file is truncated to its previous length, if possible.
Status AuditLog::write_line(int file, std::string_view line) {
  const auto count = ::write(file, line.data(), line.size());
  if (count == static_cast<ssize_t>(line.size())) return {};
  if (count < 0) return cannot_write(path_, std::generic_category().message(errno));
  const auto end = ::lseek(file, 0, SEEK_END);
  if (end >= count) (void)::ftruncate(file, end - count);  // on failure a partial line stays
  return cannot_write(path_, fmt::format("there was room for {} of {} bytes of a line", count, line.size()));
}

// Logs only changes between success and failure; in between, operators see the count of lost lines.
void AuditLog::note(const Status& written) {
  if (written.ok() == is_writable_.exchange(written.ok())) return;
  written.ok() ? log_info(fmt::format("the audit log {} can be written again", path_)) : log_warning(written.message());
}

void AuditLog::run() {
  std::unique_lock lock{mutex_};
  while (!is_stopping_ || !waiting_.empty()) {
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty() || next_file_; });
    if (next_file_) file_ = std::exchange(next_file_, UniqueFd{});
    const auto lines = std::exchange(waiting_, {});
    lock.unlock();
    for (const auto& line : lines) {
      const auto written = write_line(file_.get(), line);
      note(written);  // before counting: once a loss is counted, is_writable() must show it
      if (!written.ok()) ++lost_;
    }
    lock.lock();
  }
}

}  // namespace burn::daemon
