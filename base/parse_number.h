// Parses numbers in user input: settings, addresses, names of devices.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace burn {

// Parses all of `text` as a decimal number; unsigned types take no sign. std::nullopt if it is not a number or does not
// fit T.
template <std::integral T>
std::optional<T> parse_number(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace burn
