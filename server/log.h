// The server's log: lines for an operator, on stderr.
#pragma once

#include <string_view>

namespace burn::server {

void log_debug(std::string_view line);
void log_info(std::string_view line);
void log_warning(std::string_view line);

// "trace", "debug", "info", "warning", "error" or "off"; false for another word. At first only warnings are written: a
// server inside somebody's program is quiet.
bool set_log_level(std::string_view level);

}  // namespace burn::server
