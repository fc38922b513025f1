// The audit log: a file with one line of JSON for each session that was opened, resumed, refused or closed, and for
// each action of an operator.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/status.h"
#include "base/unique_fd.h"
#include "net/serve/session_host.h"

namespace burn::daemon {

// Thread-safe. Callers never wait for the disk: lines are queued and written by the log's own thread. A line that finds
// the queue full, or that cannot be written, is counted as lost.
class AuditLog {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;  // lines
  // At most this many refused connections are logged per second, because any peer can cause them.
  static constexpr std::size_t kMaxRefusedASecond = 100;

  // Nothing is written before open(). An empty path disables the log.
  explicit AuditLog(std::string path) : path_(std::move(path)) {}
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  bool is_used() const { return !path_.empty(); }
  // Opens the file, or reopens it, as is needed after a rename (log rotation); a new file gets mode 0600. Errors, after
  // which the old file stays in use: UNAVAILABLE with the reason.
  Status open();

  void write(const net::SessionEvent& event);
  // An action of an operator, or of the daemon on behalf of one: "reload", "drain". `outcome`: "ok", or the error.
  void write(std::string_view what, std::string_view outcome);

  std::uint64_t lines_lost() const { return lost_; }
  // True if the last line was written and the queue has room for more.
  bool is_writable() const { return is_writable_; }

 private:
  void add(std::string line);
  void run();
  Status write_line(int file, std::string_view line);
  void note(const Status& written);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;  // Guarded by `mutex_`.
  UniqueFd file_, next_file_;        // Guarded by `mutex_`; file_ is replaced by the thread alone.
  std::int64_t second_ = 0;          // the second that refused_ counts. Guarded by `mutex_`.
  std::size_t refused_ = 0;          // Guarded by `mutex_`.
  bool is_stopping_ = false;         // Guarded by `mutex_`.
  std::atomic<std::uint64_t> lost_ = 0;
  std::atomic<bool> is_writable_ = true;
  std::thread thread_;
};

}  // namespace burn::daemon
