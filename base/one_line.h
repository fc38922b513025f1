// Escapes untrusted text for log lines, so that it cannot leave its line or its quotes.
#pragma once

#include <string>
#include <string_view>

namespace burn {

// Escapes every character of `text` that moves a cursor or begins a line: "\n", "\x1b", and byte by byte C1 controls,
// the separators U+2028, U+2029 and bidirectional overrides. Bytes that are not UTF-8 are escaped too.
std::string one_line(std::string_view text);

// The same in double quotes, with inner quotes and backslashes escaped. `text` is truncated to `most` bytes.
std::string quoted(std::string_view text, std::size_t most = 200);

}  // namespace burn
