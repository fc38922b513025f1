// An asynchronous device for tests: the CPU behind a thread, with a random delay before every command and memory that
// the host cannot address. Code that works on it does not rely on a command being complete when its call returns.
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

// Lets a test pause a delayed device and make its calls fail. Thread-safe.
class DelayedControl {
 public:
  // Commands that have not begun wait until release().
  void hold();
  void release();
  // The number of next calls that need memory to be refused at once.
  std::atomic<int> refused_calls = 0;
  // The number of next runs that fail later, on the device, for lack of memory.
  std::atomic<int> failing_runs = 0;
  std::atomic<std::uint64_t> done = 0;  // commands completed so far: copies, runs, answers

  void pass();  // called by the device: waits while it is held

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
