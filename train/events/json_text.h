// Formats texts and numbers as JSON.
#pragma once

#include <string>
#include <string_view>

namespace burn::train::events {

// Quoted; "<" is escaped, so that the text cannot close a script element; invalid UTF-8 becomes U+FFFD.
std::string json_text(std::string_view text);
// The shortest text that parses to the same number, or `digits` significant digits; null if it is not finite.
std::string json_number(double value, int digits = 0);

}  // namespace burn::train::events
