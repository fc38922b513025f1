// The value of an optional, in tests.
#pragma once

#include <optional>
#include <stdexcept>

namespace burn::test {

// Throws, which fails the test, if `found` is empty.
template <typename T>
T present(const std::optional<T>& found) {
  if (!found) throw std::logic_error("there is no value");
  return *found;
}

}  // namespace burn::test
