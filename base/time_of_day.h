// The time of day as text, for messages that are read later.
#pragma once

#include <ctime>
#include <string>

namespace burn {

// "2026-11-24 17:20:31 UTC"
inline std::string time_of_day() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%F %T UTC", &parts)};
}

}  // namespace burn
