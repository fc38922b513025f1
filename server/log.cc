#include "server/log.h"

#include <cstdint>
#include <mutex>

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/one_line.h"

namespace burn::server {
namespace {

// stderr, without ever waiting for whoever reads it: lines come from threads that carry everybody's answers, and a pipe
// that is full would stop them all. Lines that find no room are counted.
class PatientSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  // What a pipe that takes anything takes at once (POSIX: PIPE_BUF).
  static constexpr std::size_t kMostBytes = 4096;

  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (line.size() > kMostBytes) {
      line.resize(kMostBytes);
      line[kMostBytes - 1] = '\n';
    }
    if (lost_ > 0) {
      if (!write(fmt::format("{} lines were lost here: they were not read\n", lost_))) {
        ++lost_;
        return;
      }
      lost_ = 0;
    }
    if (!write({line.data(), line.size()})) ++lost_;
  }
  void flush_() override {}

  static bool write(std::string_view text) {
    pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return false;
    return ::write(STDERR_FILENO, text.data(), text.size()) >= 0;
  }

  std::uint64_t lost_ = 0;
};

// Never destroyed: threads may say something until the very end.
spdlog::logger& logger() {
  static auto& instance = *[] {
    auto* made = new spdlog::logger{"burn-server", std::make_shared<PatientSink>()};
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    made->set_level(spdlog::level::warn);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return instance;
}

}  // namespace

// Whatever a client has put into it, a line is one line.
void log_debug(std::string_view line) { logger().debug(one_line(line)); }
void log_info(std::string_view line) { logger().info(one_line(line)); }
void log_warning(std::string_view line) { logger().warn(one_line(line)); }

bool set_log_level(std::string_view level) {
  const auto parsed = spdlog::level::from_str(std::string{level});
  if (parsed == spdlog::level::off && level != "off") return false;  // what from_str says of words it does not know
  logger().set_level(parsed);
  return true;
}

}  // namespace burn::server
