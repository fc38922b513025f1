#include "daemon/log.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/one_line.h"

namespace burn::daemon {
namespace {

std::atomic<std::uint64_t> lines_lost = 0;  // since the process began

// Writes to stderr and never waits: lines come from threads that carry the answers of all clients, which a full pipe
// would stop. Lines for which there is no room are dropped and counted.
class NonBlockingSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  // A pipe that is ready for writing takes this many bytes at once (POSIX: PIPE_BUF).
  static constexpr std::size_t kMaxBytes = 4096;

  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (line.size() > kMaxBytes) {
      line.resize(kMaxBytes);
      line[kMaxBytes - 1] = '\n';
    }
    if (lost_ > 0) {
      if (!write(fmt::format("{} lines were lost here: stderr was full\n", lost_))) {
        lose();
        return;
      }
      lost_ = 0;
    }
    if (!write({line.data(), line.size()})) lose();
  }
  void lose() {
    ++lost_;
    lines_lost.fetch_add(1, std::memory_order_relaxed);
  }
  void flush_() override {}

  static bool write(std::string_view text) {
    pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return false;
    return ::write(STDERR_FILENO, text.data(), text.size()) >= 0;
  }

  std::uint64_t lost_ = 0;  // since the last line that was written
};

// Never destroyed: threads may log until the process ends.
spdlog::logger& logger() {
  static auto& instance = *[] {
    auto* made = new spdlog::logger{"burn", std::make_shared<NonBlockingSink>()};
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    made->set_level(spdlog::level::warn);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return instance;
}

}  // namespace

void log_info(std::string_view line) { logger().info(one_line(line)); }
void log_warning(std::string_view line) { logger().warn(one_line(line)); }

std::uint64_t log_lines_lost() { return lines_lost.load(std::memory_order_relaxed); }

bool is_log_level(std::string_view level) {  // from_str returns `off` for unknown words
  return level == "off" || spdlog::level::from_str(std::string{level}) != spdlog::level::off;
}

bool set_log_level(std::string_view level) {
  if (!is_log_level(level)) return false;
  logger().set_level(spdlog::level::from_str(std::string{level}));
  return true;
}

}  // namespace burn::daemon
