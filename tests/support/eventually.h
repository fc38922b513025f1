// For what happens soon, on other threads or in other processes.
#pragma once

#include <chrono>
#include <thread>

namespace burn::test {

// Asks again and again until `condition` holds; false when it does not within `patience`.
template <typename Condition>
bool eventually(const Condition& condition, std::chrono::milliseconds patience) {
  constexpr auto kPause = std::chrono::milliseconds{2};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace burn::test
