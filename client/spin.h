// How a thread of the user waits for an answer: it spins for a short time, then sleeps.
#pragma once

#include <chrono>
#include <future>
#include <thread>

namespace burn::client {

// A small answer arrives sooner than a sleeping thread wakes.
inline constexpr std::chrono::microseconds kSpinTime{200};
// If a GPU of this process computes and there are spare cores: so long that the cost of waking is below a hundredth.
inline constexpr std::chrono::microseconds kSpinTimeWithGpu{5000};

// Polls until the answer is ready, at most for `spin_time`; yields the core to other threads between polls. Not for
// deferred futures.
template <typename T>
void spin_until_ready(const std::future<T>& answer, std::chrono::microseconds spin_time) {
  const auto deadline = std::chrono::steady_clock::now() + spin_time;
  while (answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
}

}  // namespace burn::client
