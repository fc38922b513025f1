// Untrusted text in a line for an operator: it stays within that line, and within its quotes.
#pragma once

#include <string>
#include <string_view>

namespace burn {

// `text` with everything that moves a cursor or begins a line written out: "\n", "\x1b", and C1 controls and the
// separators U+2028, U+2029, bidirectional overrides as their bytes. What is no UTF-8 is written out, too.
std::string one_line(std::string_view text);

// The same between double quotes, with quotes and backslashes within escaped, and cut off after `most` bytes.
std::string quoted(std::string_view text, std::size_t most = 200);

}  // namespace burn
