// Texts and numbers as JSON.
#pragma once

#include <string>
#include <string_view>

namespace burn::train::events {

// With its quotes; "<" escaped, so that it cannot end a script; bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
// The shortest that reads back as the same number, or `digits` significant ones; null where it is not finite.
std::string json_number(double value, int digits = 0);

}  // namespace burn::train::events
