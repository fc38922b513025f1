// A daemon's log: lines for an operator, on stderr. Thread-safe; never blocks if stderr is not read.
#pragma once

#include <cstdint>
#include <string_view>

namespace burn::daemon {

// Line breaks and control characters in `line`, which may contain text of a client, are escaped.
void log_info(std::string_view line);
void log_warning(std::string_view line);

// The number of lines that were dropped because stderr had no room, since the process started.
std::uint64_t log_lines_lost();

// Accepts "trace", "debug", "info", "warning", "error" or "off"; returns false, without a change, for another word. The
// initial level is "warning": a server embedded in another program is quiet.
bool set_log_level(std::string_view level);
bool is_log_level(std::string_view level);  // accepted by set_log_level()

// Accepts "text" (the initial format) or "json": each line is an object with the strings time (UTC, ISO 8601), level
// and message. Returns false, without a change, for another word.
bool set_log_format(std::string_view format);
bool is_log_format(std::string_view format);

}  // namespace burn::daemon
