// A device that works on its own: the CPU behind a thread, a random delay before everything it does, and memory that
// no pointer of the host reaches. What works on it does not rely on a device being done when a call returns.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/backend.h"
#include "backends/cpu/runtime/memory.h"

namespace burn::test {

struct DelayedOptions {
  std::uint64_t seed = 1;
  std::chrono::microseconds longest_delay{200};
  backends::cpu::Pool::Config memory = {};
};

// What a test has in hand of a delayed device. Thread-safe.
class DelayedControl {
 public:
  // Everything that has not begun waits until release().
  void hold();
  void release();
  // So many of the next calls that need memory are refused at once.
  std::atomic<int> refused_calls = 0;
  // So many of the next runs find out on the device that there is no memory.
  std::atomic<int> failing_runs = 0;
  std::atomic<std::uint64_t> done = 0;  // what the device has done so far: copies, runs, answers

  void pass();  // for the device

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
};

std::unique_ptr<backends::Backend> make_delayed_backend(
    const DelayedOptions& options = {}, std::shared_ptr<DelayedControl> control = std::make_shared<DelayedControl>());

// Linking this file makes the kind "delayed" known to backends/registry.h. Its delays are up to
// $BURN_TEST_DELAY_US (100) microseconds.

}  // namespace burn::test
