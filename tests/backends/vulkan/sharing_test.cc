// Several streams on one Vulkan device, for long: memory and descriptors stay where they are, both get on, and what one
// lacks does not disturb the other. On any driver, lavapipe included; skipped where there is none.
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/vulkan/driver/adapters.h"
#include "backends/vulkan/runtime/vulkan_backend.h"
#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::backends::vulkan {
namespace {

using ir::DType;
using ::testing::HasSubstr;

// y = x + x, of n numbers.
ir::Program twice(std::int64_t n) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({DType::f32, {n}});
  return builder.finish(
      {value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, std::vector{x, x}, {"model.cc", 7}))});
}

// A stream of its own with a program of `count` numbers.
class Client {
 public:
  Client(std::shared_ptr<Backend> backend, std::size_t count)
      : device_(std::move(backend)),
        executable_(value_or_throw(device_.compile(twice(static_cast<std::int64_t>(count))))),
        input_(value_or_throw(device_.stream().upload(SharedBytes::own(std::vector<float>(count, 3.0F))))) {}

  Result<RunResult> run() {
    RunArgs args;
    args.inputs.push_back(input_);
    return device_.run(executable_, std::move(args));
  }
  // Runs, and waits for the result.
  Result<float> number() {
    BURN_TRY(const auto result, run());
    if (!result.failures.empty() && result.failures[0]) return *result.failures[0];
    float number = 0;
    BURN_TRY(const auto bytes, device_.download(result.outputs[0], sizeof number));
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

 private:
  testing::TestDevice device_;
  std::shared_ptr<Executable> executable_;
  BufferPtr input_;
};

class VulkanSharing : public ::testing::Test {
 protected:
  void open(const DeviceLimits& limits = {}) {
    auto backend = open_vulkan_backend(0, limits);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
    backend_ = *std::move(backend);
  }

  std::shared_ptr<Backend> backend_;
};

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST_F(VulkanSharing, TenThousandRunsLeaveMemoryAndDescriptorsAsTheyWere) {
  open();
  if (IsSkipped()) return;
  Client client(backend_, 1000);
  const auto run_many = [&](int count) {
    for (int k = 0; k < count; ++k) {
      if (k % 50 == 49)
        ASSERT_EQ(*client.number(), 6.0F);
      else
        ASSERT_TRUE(client.run().ok());
    }
  };
  run_many(500);  // recordings and blocks have come to be
  const auto before = backend_->memory();
  const auto files = open_files();
  run_many(10'000);
  const auto after = backend_->memory();
  EXPECT_LE(after.in_use,
            before.in_use + (std::uint64_t{256} << 10));  // results of the last runs, which may not be done
  EXPECT_EQ(after.reserved, before.reserved);
  EXPECT_LE(open_files(), files);
}

TEST_F(VulkanSharing, TwoStreamsThatRunAsFastAsTheyCanBothGetOn) {
  open();
  if (IsSkipped()) return;
  constexpr auto kTime = std::chrono::milliseconds(800);
  constexpr int kEnough = 20;
  std::atomic<int> counts[2] = {}, wrong = 0;
  const auto work = [&](std::atomic<int>& count, std::size_t size) {
    Client client(backend_, size);
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < kTime || count < kEnough) {
      for (int k = 0; k < 3; ++k) wrong += client.run().ok() ? 0 : 1;  // several are under way
      wrong += *client.number() == 6.0F ? 0 : 1;
      ++count;
    }
  };
  std::jthread other([&] { work(counts[0], 1 << 16); });
  work(counts[1], 1 << 16);
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(std::min(counts[0], counts[1]) * 4, std::max(counts[0], counts[1]))
      << fmt::format("{} and {} rounds", counts[0].load(), counts[1].load());
}

TEST_F(VulkanSharing, AStreamWithoutMemoryDoesNotDisturbTheOther) {
  open({.memory = std::uint64_t{96} << 20});
  if (IsSkipped()) return;
  Client small(backend_, 1000);
  ASSERT_EQ(*small.number(), 6.0F);
  std::atomic<int> wrong = 0, rounds = 0;
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested() || rounds < 50) {
      wrong += *small.number() == 6.0F ? 0 : 1;
      ++rounds;
    }
  });
  {
    Client large(backend_, std::size_t{14} << 20);  // 56 MiB, and as much for each result
    for (int k = 0; k < 20; ++k) {
      const auto failed = large.number();
      EXPECT_EQ(failed.status().code(), StatusCode::resource_exhausted);
      EXPECT_THAT(failed.status().message(), HasSubstr("model.cc:7"));
    }
  }
  other.request_stop();
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(*small.number(), 6.0F);
}

}  // namespace
}  // namespace burn::backends::vulkan
