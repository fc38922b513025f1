// The audit log: a file with a line of JSON for each session that was opened, resumed, refused or closed, and for what
// operators did.
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

// Thread-safe. Writers never wait for the disk: a thread of its own writes, and a line for which there is no room, or
// which cannot be written, is counted.
class AuditLog {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;  // lines
  // Of refused connections so many are written in each second, as any peer can cause them.
  static constexpr std::size_t kMaxRefusedASecond = 100;

  // Nothing is written before open(); an empty path: never.
  explicit AuditLog(std::string path) : path_(std::move(path)) {}
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  bool is_used() const { return !path_.empty(); }
  // Opens the file, or opens it again, as after it was renamed; it is made with mode 0600. Errors, after which the old
  // one stays: UNAVAILABLE with why.
  Status open();

  void write(const net::SessionEvent& event);
  // What an operator did, or the daemon for one: "reload", "drain". `outcome`: "ok", or what was wrong.
  void write(std::string_view what, std::string_view outcome);

  std::uint64_t lines_lost() const { return lost_; }
  // Whether the last line could be written, and there is room for more.
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
  std::int64_t second_ = 0;          // in which refused_ were written. Guarded by `mutex_`.
  std::size_t refused_ = 0;          // Guarded by `mutex_`.
  bool is_stopping_ = false;         // Guarded by `mutex_`.
  std::atomic<std::uint64_t> lost_ = 0;
  std::atomic<bool> is_writable_ = true;
  std::thread thread_;
};

}  // namespace burn::daemon
