// How a thread of the user's waits for an answer: it spins for a while, then sleeps.
#pragma once

#include <chrono>
#include <future>
#include <thread>

namespace burn::client {

// A small answer comes sooner than a sleeping thread wakes.
inline constexpr std::chrono::microseconds kSpinTime{200};
// Where a GPU of this process computes and cores are to spare: until sleeping would cost less than a hundredth.
inline constexpr std::chrono::microseconds kSpinTimeWithGpu{5000};

// Polls for so long, and returns sooner if the answer is there; other threads that want this core get it in between.
// Not for deferred futures.
template <typename T>
void spin_until_ready(const std::future<T>& answer, std::chrono::microseconds spin_time) {
  const auto deadline = std::chrono::steady_clock::now() + spin_time;
  while (answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
}

}  // namespace burn::client
