// A stream that uploads buffers and checks their contents by row sums.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tests/backends/vulkan/vulkan_test.h"

namespace burn::backends::vulkan {

inline constexpr std::int64_t kRows = 64;
inline constexpr std::int64_t kLarge = std::int64_t{1} << 20;  // numbers: 4 MiB

// The sums of kRows rows, which have n numbers together.
inline ir::Program sums(std::int64_t n) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({ir::DType::f32, {kRows, n / kRows}});
  return builder.finish(
      {value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {1}}, std::vector{x}, {"model.cc", 7}))});
}

// A stream that uploads buffers of `count` equal numbers, and sums their rows.
class UploadClient {
 public:
  explicit UploadClient(std::shared_ptr<Backend> backend, std::int64_t count = kLarge)
      : device_(std::move(backend)), count_(count), executable_(value_or_throw(device_.compile(sums(count)))) {}

  testing::TestDevice& device() { return device_; }
  Result<BufferPtr> upload(int number) {
    return device_.stream().upload(
        SharedBytes::own(std::vector<float>(static_cast<std::size_t>(count_), static_cast<float>(number))));
  }
  Result<BufferPtr> sum(BufferPtr numbers) {
    RunArgs args;
    args.inputs.push_back(std::move(numbers));
    BURN_TRY(auto result, device_.run(executable_, std::move(args)));
    if (!result.failures.empty() && result.failures[0]) return *result.failures[0];
    return result.outputs[0];
  }
  // Whether `sum` holds the row sums of a buffer filled with `number`.
  ::testing::AssertionResult is_of(const BufferPtr& sum, int number) {
    std::array<float, kRows> found{};
    const auto bytes = device_.download(sum, sizeof found);
    if (!bytes.ok()) return ::testing::AssertionFailure() << bytes.status().message();
    std::memcpy(found.data(), bytes->data(), sizeof found);
    const auto expected = count_ / kRows * number;
    for (const auto value : found) {
      if (value != static_cast<float>(expected))
        return ::testing::AssertionFailure() << value << " is not " << expected;
    }
    return ::testing::AssertionSuccess();
  }

 private:
  testing::TestDevice device_;
  const std::int64_t count_;
  const std::shared_ptr<Executable> executable_;
};

class VulkanUploads : public VulkanTest {
 protected:
  std::shared_ptr<Backend> open(UploadOverlap uploads = UploadOverlap::own_queue) {
    return value_or_throw(open_vulkan_backend(0, {.uploads = uploads}));
  }
};

}  // namespace burn::backends::vulkan
