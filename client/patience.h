// How a thread of the user's waits for an answer.
#pragma once

#include <chrono>
#include <future>
#include <thread>

namespace burn::client {

// A small answer comes sooner than a sleeping thread wakes.
inline constexpr std::chrono::microseconds kPatience{200};
// Where a GPU of this process computes and cores are to spare: until sleeping would cost less than a hundredth.
inline constexpr std::chrono::microseconds kPatienceWithGpu{5000};

// Looks for it that long, and is back sooner if it is there; other threads that want this core get it in between. Not
// for deferred futures.
template <typename T>
void look_for(const std::future<T>& answer, std::chrono::microseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
}

}  // namespace burn::client
