#include "server/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/one_line.h"

namespace burn::server {
namespace {

// Never destroyed: threads may say something until the very end.
spdlog::logger& logger() {
  static auto& instance = *[] {
    auto* made = new spdlog::logger{"burn-server", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
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
