// Memory of Vulkan devices that allow less at once, or in all, than programs want: on any driver, lavapipe included;
// skipped where there is none.
#include <cstring>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/vulkan/runtime/vulkan_backend.h"
#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::backends::vulkan {
namespace {

using ir::DType;
using ::testing::HasSubstr;

constexpr std::int64_t kSize = 256;  // rows and columns
constexpr std::uint64_t kMatrix = kSize * kSize * sizeof(float);

class VulkanMemory : public ::testing::Test {
 protected:
  void open(const DeviceLimits& limits) {
    auto backend = open_vulkan_backend(0, limits);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
    device_.emplace(std::shared_ptr<Backend>(*std::move(backend)));
  }
  testing::TestDevice& device() { return *device_; }  // NOLINT(bugprone-unchecked-optional-access): made by open()

  BufferPtr upload(std::vector<float> numbers) {
    return value_or_throw(device().stream().upload(SharedBytes::own(std::move(numbers))));
  }

  // Runs the powers of x, which moves columns by one: their sum has ones in the columns behind the diagonal.
  void expect_sum_of_powers();

  std::optional<testing::TestDevice> device_;
};

// x + x^2 + ... + x^count: all powers are there at once.
ir::Program sum_of_powers(int count) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({DType::f32, {kSize, kSize}});
  std::vector<ir::Ref> powers{x};
  for (int k = 1; k < count; ++k)
    powers.push_back(value_or_throw(
        builder.add(ir::MatMul{}, std::vector{powers.back(), x}, {"powers.cc", static_cast<std::uint32_t>(k)})));
  auto sum = powers.back();  // from the last to the first, so that no sum is there before all powers are
  for (int k = count - 2; k >= 0; --k)
    sum = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add},
                                     std::vector{sum, powers[static_cast<std::size_t>(k)]}, {"sum.cc", 1}));
  return builder.finish({sum});
}

void VulkanMemory::expect_sum_of_powers() {
  constexpr int kPowers = 12;
  std::vector<float> moves(kSize * kSize);
  for (std::int64_t i = 0; i < kSize; ++i) moves[static_cast<std::size_t>(i * kSize + (i + 1) % kSize)] = 1;
  const auto executable = value_or_throw(device().compile(sum_of_powers(kPowers)));
  EXPECT_GT(executable->run_bytes().peak, 4 * kMatrix);  // more than fits into one
  for (int again = 0; again < 3; ++again) {
    RunArgs args;
    args.inputs.push_back(upload(moves));
    const auto result = value_or_throw(device().run(executable, std::move(args)));
    ASSERT_TRUE(result.failures.empty()) << result.failures[0]->message();
    const auto bytes = value_or_throw(device().download(result.outputs[0], kMatrix));
    std::vector<float> sums(kSize * kSize);
    std::memcpy(sums.data(), bytes.data(), kMatrix);
    for (std::int64_t i = 0; i < kSize; ++i) {
      for (std::int64_t j = 0; j < kSize; ++j) {
        const auto distance = (j - i + kSize) % kSize;
        ASSERT_EQ(sums[static_cast<std::size_t>(i * kSize + j)], distance >= 1 && distance <= kPowers ? 1.0F : 0.0F)
            << i << ", " << j;
      }
    }
  }
}

TEST_F(VulkanMemory, TemporaryValuesLieInSeveralAllocationsWhereOneWouldBeTooLarge) {
  open({.allocation = 2 * kMatrix + 4096});
  if (IsSkipped()) return;
  EXPECT_EQ(device().backend().limits().max_buffer_bytes, 2 * kMatrix + 4096);
  expect_sum_of_powers();
}

// As on devices of which the host sees no memory.
TEST_F(VulkanMemory, ARunIsTheSameWhereItsTableIsCopiedByTheDevice) {
  open({.is_written_by_host = false});
  if (IsSkipped()) return;
  expect_sum_of_powers();
}

TEST_F(VulkanMemory, ATemporaryValueAboveTheLimitIsRefusedWithNumbersAndCallSite) {
  open({.allocation = kMatrix - 256});
  if (IsSkipped()) return;
  const auto refused = device().compile(sum_of_powers(3));
  EXPECT_EQ(refused.status().code(), StatusCode::resource_exhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("262144 bytes are wanted at once, 261888 are the most"));
  EXPECT_THAT(refused.status().message(), HasSubstr("powers.cc:"));
}

TEST_F(VulkanMemory, WhatIsBeyondTheLimitOfTheDeviceFailsAndTheRestGoesOn) {
  constexpr std::uint64_t kLimit = std::uint64_t{64} << 20;
  open({.memory = kLimit});
  if (IsSkipped()) return;
  EXPECT_EQ(device().backend().limits().memory_bytes, kLimit);
  const std::vector<float> numbers(std::size_t{3} << 20);  // 12 MiB
  std::vector<BufferPtr> all;
  Status failure;
  while (failure.ok() && all.size() < 10) {
    auto buffer = device().stream().upload(SharedBytes::own(std::vector<float>(numbers)));
    if (buffer.ok())
      all.push_back(*std::move(buffer));
    else
      failure = buffer.status();
  }
  EXPECT_GE(all.size(), 4u);
  EXPECT_EQ(failure.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(failure.message(), HasSubstr(std::to_string(kLimit)));
  EXPECT_THAT(failure.message(), HasSubstr("BURN_DEVICE_MEMORY"));
  EXPECT_LE(device().backend().memory().reserved, kLimit);
  all.clear();
  EXPECT_TRUE(device().stream().upload(SharedBytes::own(std::vector<float>(numbers))).ok());
}

}  // namespace
}  // namespace burn::backends::vulkan
