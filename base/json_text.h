// Writes a JSON string.
#pragma once

#include <string>
#include <string_view>

#include "base/one_line.h"

namespace burn {

// Returns `text` in quotes. Control characters and bytes that are not UTF-8 are escaped by one_line()
// (base/one_line.h).
inline std::string json_text(std::string_view text) {
  std::string escaped{'"'};
  for (const char c : one_line(text)) {  // one_line() does not escape these two
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped + '"';
}

}  // namespace burn
