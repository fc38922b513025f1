// What is Vulkan's own beneath the contract of streams: recordings that are submitted again, grids that are folded,
// memory in pages, devices by name. On any driver, lavapipe included; skipped where there is none.
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/vulkan/device/pages.h"
#include "backends/vulkan/driver/adapters.h"
#include "backends/vulkan/runtime/dispatches.h"
#include "backends/vulkan/runtime/vulkan_backend.h"
#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::backends::vulkan {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ::testing::HasSubstr;

class VulkanStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    auto backend = open_vulkan_backend(0);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
    device_.emplace(std::shared_ptr<Backend>(*std::move(backend)));
  }

  // y = x + c, of n numbers.
  static ir::Program addition(DType dtype, std::int64_t n) {
    ir::ProgramBuilder builder;
    const auto x = builder.add_input({dtype, {n}});
    const auto one = builder.add_scalar(dtype);
    const auto all = value_or_throw(builder.add(ir::Expand{{n}}, std::vector{one}, {"test.cc", 1}));
    const auto y = value_or_throw(builder.add(ir::Pointwise{PointwiseFn::add}, std::vector{x, all}, {"test.cc", 2}));
    return builder.finish({y});
  }

  testing::TestDevice& device() { return *device_; }  // NOLINT(bugprone-unchecked-optional-access): made by SetUp()
  BufferPtr upload(std::vector<float> numbers) {
    return value_or_throw(device().stream().upload(SharedBytes::own(std::move(numbers))));
  }
  float first(const BufferPtr& buffer) {
    float number = 0;
    std::memcpy(&number, value_or_throw(device().download(buffer, sizeof number)).data(), sizeof number);
    return number;
  }
  RunResult run(const std::shared_ptr<Executable>& executable, BufferPtr input, double scalar) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(scalar);
    RunArgs args{.scalars = std::span(&bits, 1)};
    args.inputs.push_back(std::move(input));
    return value_or_throw(device().run(executable, std::move(args)));
  }

  std::optional<testing::TestDevice> device_;
};

TEST_F(VulkanStreams, RunsOfOneProgramHaveTheirOwnBuffersAndNumbersWhileOthersAreUnderWay) {
  const auto executable = value_or_throw(device().compile(addition(DType::f32, 1000)));
  std::vector<BufferPtr> results;
  results.reserve(40);
  for (int k = 0; k < 40; ++k)
    results.push_back(run(executable, upload(std::vector<float>(1000, static_cast<float>(k))), 100.0 * k).outputs[0]);
  for (int k = 0; k < 40; ++k) EXPECT_EQ(first(results[static_cast<std::size_t>(k)]), 101.0F * static_cast<float>(k));
}

TEST_F(VulkanStreams, ResultsOfARunAreTheOperandsOfTheNext) {
  const auto executable = value_or_throw(device().compile(addition(DType::f32, 1 << 16)));
  auto buffer = upload(std::vector<float>(1 << 16, 1.0F));
  for (int k = 0; k < 100; ++k) buffer = run(executable, std::move(buffer), 1).outputs[0];
  EXPECT_EQ(first(buffer), 101.0F);
}

// More blocks than lavapipe and NVIDIA's driver have in the other dims of a grid.
TEST_F(VulkanStreams, GridsBeyondTheDevicesLimitAreFolded) {
  const std::int64_t n = 65536 * 256 + 77;
  const auto executable = value_or_throw(device().compile(addition(DType::u8, n)));
  std::vector<std::uint8_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), std::uint8_t{0});
  const std::uint64_t bits = 3;
  RunArgs args{.scalars = std::span(&bits, 1)};
  args.inputs.push_back(value_or_throw(device().stream().upload(SharedBytes::own(std::move(numbers)))));
  const auto result = value_or_throw(device().run(executable, std::move(args)));
  const auto bytes = value_or_throw(device().download(result.outputs[0], static_cast<std::size_t>(n)));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i)
    wrong += static_cast<std::uint8_t>(bytes.span()[static_cast<std::size_t>(i)]) != static_cast<std::uint8_t>(i + 3)
                 ? 1
                 : 0;
  EXPECT_EQ(wrong, 0);
}

// What is beyond the second dim is never handed to the driver.
TEST_F(VulkanStreams, GridsThatCannotBeFoldedAreRefusedWithTheNumbers) {
  device_.reset();  // the loader of the tests knows one device at a time
  const auto device = value_or_throw(Device::open(0, {}));
  DispatchTable table(*device);
  ASSERT_TRUE(table.open().ok());
  const auto most = device->adapter().max_blocks[1];
  const VkPipeline kernels[] = {table.system_kernel(SystemKernel::fill_words)};
  for (const std::int64_t blocks_y : {std::int64_t{most}, std::int64_t{most} + 1}) {
    const compile::Launch launch(0, {.blocks = 3, .blocks_y = blocks_y}, {});
    ASSERT_TRUE(table.add({launch, 5}, kernels).ok());
  }
  ASSERT_EQ(table.too_large().size(), 1u);
  const auto& [step, why] = table.too_large()[0];
  EXPECT_EQ(step, 5);
  EXPECT_EQ(why.code(), StatusCode::unimplemented);
  EXPECT_THAT(why.message(), HasSubstr("a grid of 3 x " + std::to_string(std::int64_t{most} + 1) + " blocks"));
}

// Mesa's llvmpipe ends the loops of a thread after 65,535 rounds in all (compile/codegen/kernel/unroll.h).
TEST_F(VulkanStreams, LongSumsAreWhole) {
  constexpr std::int64_t kCount = 200'000;
  ir::ProgramBuilder builder;
  const auto row = builder.add_input({DType::f32, {1, kCount}});
  const auto column = value_or_throw(builder.add(ir::Permute{{1, 0}}, std::vector{row}, {"test.cc", 1}));
  const auto product = value_or_throw(builder.add(ir::MatMul{}, std::vector{row, column}, {"test.cc", 2}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {1}}, std::vector{row}, {"test.cc", 3}));
  const auto scan = value_or_throw(builder.add(ir::Scan{ir::ReduceFn::sum, 1}, std::vector{row}, {"test.cc", 4}));
  const auto last =
      value_or_throw(builder.add(ir::Slice{{0, kCount - 1}, {1, 1}, {1, 1}}, std::vector{scan}, {"test.cc", 5}));
  const auto executable = value_or_throw(device().compile(builder.finish({product, sum, last})));
  RunArgs args;
  args.inputs.push_back(upload(std::vector<float>(kCount, 1.0F)));
  const auto result = value_or_throw(device().run(executable, std::move(args)));
  for (const auto& output : result.outputs) EXPECT_EQ(first(output), static_cast<float>(kCount));
}

TEST_F(VulkanStreams, ATensorAboveTheDriversLimitIsRefusedWithTheNumbers) {
  const auto most = device().backend().limits().max_buffer_bytes;
  ir::ProgramBuilder builder;
  const auto one = builder.add_scalar(DType::u8);
  const auto all = value_or_throw(
      builder.add(ir::Expand{{static_cast<std::int64_t>(most) + 4096}}, std::vector{one}, {"test.cc", 7}));
  const auto executable = value_or_throw(device().compile(builder.finish({all})));
  const std::uint64_t bits = 1;
  const auto result = device().run(executable, {.scalars = std::span(&bits, 1)});
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->failures.size(), 1u);
  EXPECT_EQ(result->failures[0]->code(), StatusCode::resource_exhausted);
  EXPECT_THAT(result->failures[0]->message(), HasSubstr(std::to_string(most)));
}

TEST_F(VulkanStreams, MemoryComesBack) {
  const auto before = device().backend().memory();
  {
    const auto executable = value_or_throw(device().compile(addition(DType::f32, 1 << 20)));
    const auto result = run(executable, upload(std::vector<float>(1 << 20)), 1);
    EXPECT_GE(device().backend().memory().in_use, before.in_use + (std::uint64_t{4} << 20));
    device().synchronize();
  }
  EXPECT_LE(device().backend().memory().in_use, before.in_use + (1 << 20));
  device().close();
  device().backend().trim(0, std::chrono::milliseconds(0));
  EXPECT_EQ(device().backend().memory().in_use, 0u);
  EXPECT_EQ(device().backend().memory().reserved, 0u);
}

TEST(VulkanAdapters, AreFoundByNameAndUuid) {
  const auto adapters = usable_adapters();
  if (!adapters.ok()) GTEST_SKIP() << adapters.status().message();
  for (std::size_t k = 0; k < adapters->size(); ++k) {
    const auto found = find_adapter("uuid=" + (*adapters)[k].uuid_text());
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(*found, static_cast<int>(k));
  }
  if (adapters->size() == 1) {
    EXPECT_EQ(*find_adapter((*adapters)[0].name), 0);
  }
  const auto none = find_adapter("no such card");
  EXPECT_EQ(none.status().code(), StatusCode::not_found);
  EXPECT_THAT(none.status().message(), HasSubstr((*adapters)[0].name));
  EXPECT_THAT(open_vulkan_backend(99).status().message(), HasSubstr("vulkan:99"));
}

}  // namespace
}  // namespace burn::backends::vulkan
