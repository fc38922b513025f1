// A string of JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/one_line.h"

namespace burn {

// `text` between quotes; what one_line() (base/one_line.h) writes out, such as control characters and bytes that are no
// UTF-8, is written out as it does that.
inline std::string json_text(std::string_view text) {
  std::string escaped{'"'};
  for (const char c : one_line(text)) {  // which leaves these two
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped + '"';
}

}  // namespace burn
