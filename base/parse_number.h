// Numbers in texts that people write: settings, addresses, names of devices.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace burn {

// The decimal number that all of `text` is, without sign for unsigned types. nullopt: it is none, or T does not hold
// it.
template <std::integral T>
std::optional<T> parse_number(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace burn
