#include "train/events/json_text.h"

#include <cmath>

#include <fmt/format.h>

namespace burn::train::events {
namespace {

// The length in bytes, 1 to 4, of the UTF-8 character at the beginning of a text; 0: invalid (RFC 3629, section 4).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool is_too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_no_character = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return is_too_long || is_no_character ? 0 : size;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const auto size = character_bytes(text);
    if (size == 0)
      json += "\\ufffd";
    else if (c == '"' || c == '\\')
      json += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == '<')
      json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      json += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return json + "\"";
}

std::string json_number(double value, int digits) {
  if (!std::isfinite(value)) return "null";
  return digits > 0 ? fmt::format("{:.{}g}", value, digits) : fmt::format("{}", value);
}

}  // namespace burn::train::events
