#include "base/one_line.h"

#include <cstddef>
#include <cstdint>

namespace burn {
namespace {

struct Letter {
  std::uint32_t code = 0;
  std::size_t size = 0;  // 0: not UTF-8
};

Letter first_letter(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xf0 && first < 0xf5   ? 4
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xc2 && first < 0xe0 ? 2
                                                           : 0;
  if (size == 0 || text.size() < size) return {};
  std::uint32_t code = first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3f);
  }
  const std::uint32_t least = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least || code > 0x10ffff || is_surrogate) return {};
  return {code, size};
}

bool is_plain(std::uint32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool breaks_lines = code == 0x2028 || code == 0x2029;
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  return !is_control && !breaks_lines && !turns && code != 0xfeff;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto letter = first_letter(text);
    const std::size_t size = letter.size == 0 ? 1 : letter.size;
    const auto bytes = text.substr(0, size);
    if (letter.size > 0 && is_plain(letter.code)) {
      out += bytes;
    } else {
      for (const char c : bytes) append_escaped(out, c);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string quoted(std::string_view text, std::size_t most) {
  std::string escaped;
  for (const char c : text.substr(0, most)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + one_line(escaped) + (text.size() > most ? "...\"" : "\"");
}

}  // namespace burn
