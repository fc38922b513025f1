// Waits for a condition that other threads or processes will fulfil.
#pragma once

#include <chrono>
#include <thread>

namespace burn::test {

// Polls until `condition` holds; returns false if it does not within `patience`.
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
