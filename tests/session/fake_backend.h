// A backend under a test's control: few ops, plain loops, and hooks to make it slow or fail.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace burn::session {

// What the test sees of a backend that its worker owns. The hooks may be called from any thread; set them before
// sessions run.
struct FakeDevice {
  std::atomic<std::uint64_t> in_use = 0;  // bytes of live buffers
  std::atomic<int> compiled = 0, runs = 0;
  std::atomic<int> shared_donations = 0;  // donated buffers with another owner: must stay 0
  std::atomic<std::uint64_t> largest_request = 0;
  backends::RunBytes run_bytes;  // what every program says of its runs
  backends::Limits limits{std::uint64_t{1} << 32, std::uint64_t{1} << 32};
  std::function<Status(const ir::Program&)> on_compile, on_run;
  std::function<Status(const ir::Op&)> on_supports;
  std::atomic<bool> is_lost = false;
  std::function<std::uint64_t(std::uint64_t keep, std::chrono::milliseconds unused_for)> on_trim;
};

// f32 only: scalar, add, mul and reshape (which shares its operand's buffer) compute; what any other op makes is all
// zeros.
std::unique_ptr<backends::Backend> make_fake_backend(std::shared_ptr<FakeDevice> device);

}  // namespace burn::session
