// What an optional holds, in tests.
#pragma once

#include <optional>
#include <stdexcept>

namespace burn::test {

// Throws, which fails the test, where `found` holds nothing.
template <typename T>
T present(const std::optional<T>& found) {
  if (!found) throw std::logic_error("there is no value");
  return *found;
}

}  // namespace burn::test
