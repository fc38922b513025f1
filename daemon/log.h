// A daemon's log: lines for an operator, on stderr. Thread-safe; never waits for the reader of stderr.
#pragma once

#include <cstdint>
#include <string_view>

namespace burn::daemon {

// A line break or control character in `line`, which may hold a client's words, is written as an escape.
void log_info(std::string_view line);
void log_warning(std::string_view line);

// Lines for which stderr had no room, since the process began.
std::uint64_t log_lines_lost();

// "trace", "debug", "info", "warning", "error" or "off"; false, and no change, for another word. At first only warnings
// are written: a server inside another program is quiet.
bool set_log_level(std::string_view level);
bool is_log_level(std::string_view level);  // one of these words

// "text" (at first), or "json": a line is an object with the strings time (UTC, ISO 8601), level and message. False,
// and no change, for another word.
bool set_log_format(std::string_view format);
bool is_log_format(std::string_view format);

}  // namespace burn::daemon
