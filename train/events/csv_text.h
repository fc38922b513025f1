// Fields of CSV files (RFC 4180).
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace burn::train::events {

// Empty for a number that is not finite.
inline std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

// Quoted if it contains a comma, a quote or a new line.
inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string{"\"\""} : std::string{c};
  return quoted + "\"";
}

}  // namespace burn::train::events
