#include "daemon/log.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/one_line.h"

namespace burn::daemon {
namespace {

std::atomic<std::uint64_t> lines_lost = 0;  // since the process began
std::atomic<bool> is_json = false;

// The first `bytes` bytes of `text` at most, cut at a character boundary (UTF-8).
std::string_view cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

// Writes to stderr without blocking: lines come from threads that send the answers of all clients, and a full pipe
// would stop them. Lines for which there is no room are dropped and counted.
class NonBlockingSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  // A pipe that is ready for writing accepts this many bytes at once (POSIX: PIPE_BUF).
  static constexpr std::size_t kMaxBytes = 4096;

  void sink_it_(const spdlog::details::log_msg& message) override {
    if (lost_ > 0) {
      const auto lost = fmt::format("{} lines were lost here: stderr was full", lost_);
      if (!write(is_json ? json_line(message.time, spdlog::level::warn, lost) : lost + '\n')) {
        lose();
        return;
      }
      lost_ = 0;
    }
    const bool is_written =
        is_json ? write(json_line(message.time, message.level, {message.payload.data(), message.payload.size()}))
                : write_text(message);
    if (!is_written) lose();
  }
  bool write_text(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (line.size() > kMaxBytes) {
      line.resize(kMaxBytes);
      line[kMaxBytes - 1] = '\n';
    }
    return write({line.data(), line.size()});
  }
  static std::string json_line(spdlog::log_clock::time_point time, spdlog::level::level_enum level,
                               std::string_view text) {
    constexpr std::size_t kOverheadBytes = 128;  // bytes of a line apart from the message
    const auto name = spdlog::level::to_string_view(level);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time - seconds).count();
    // Escaping may double the length of the message.
    return fmt::format("{{\"time\":\"{:%Y-%m-%dT%H:%M:%S}.{:03}Z\",\"level\":\"{}\",\"message\":{}}}\n",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), milliseconds,
                       std::string_view{name.data(), name.size()},
                       json_text(cut(text, (kMaxBytes - kOverheadBytes) / 2)));
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

bool is_log_format(std::string_view format) { return format == "text" || format == "json"; }

bool set_log_format(std::string_view format) {
  if (!is_log_format(format)) return false;
  is_json = format == "json";
  return true;
}

bool set_log_level(std::string_view level) {
  if (!is_log_level(level)) return false;
  logger().set_level(spdlog::level::from_str(std::string{level}));
  return true;
}

}  // namespace burn::daemon
