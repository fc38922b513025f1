#include "train/events/json_text.h"

#include <cmath>

#include <fmt/format.h>

namespace burn::train::events {

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      json += {'\\', c};
    else if (byte < 0x20 || c == '<')
      json += fmt::format("\\u{:04x}", byte);
    else
      json += c;
  }
  return json + "\"";
}

std::string json_number(double value, int digits) {
  if (!std::isfinite(value)) return "null";
  return digits > 0 ? fmt::format("{:.{}g}", value, digits) : fmt::format("{}", value);
}

}  // namespace burn::train::events
