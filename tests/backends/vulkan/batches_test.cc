// How commands come to the device: what it is handed together while it is at others, and what is recorded only once.
// Skipped where there is no device.
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "tests/backends/vulkan/vulkan_test.h"

namespace burn::backends::vulkan {
namespace {

constexpr std::int64_t kMany = 1'000'000;  // calls before one fails: counted down

class VulkanBatches : public VulkanDeviceTest {
 protected:
  std::int64_t submissions() { return kMany - faults().submissions; }
  std::int64_t recordings() { return kMany - faults().recordings; }

  static bool becomes_true(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
};

TEST_F(VulkanBatches, RunsBehindTwoOthersAreHandedInTogether) {
  const auto executable = value_or_throw(device().compile(shifted_exp(100)));
  auto input = upload(100);
  device().synchronize();
  faults().is_stuck = true;
  faults().submissions = kMany;
  std::vector<BufferPtr> results;
  const auto run = [&](int times) {
    for (int k = 0; k < times; ++k) {
      RunArgs args;
      args.inputs.push_back(input);
      results.push_back(value_or_throw(device().run(executable, std::move(args))).outputs[0]);
    }
  };
  run(1);
  EXPECT_EQ(submissions(), 1) << "behind the copy of the input alone";
  run(7);
  EXPECT_EQ(submissions(), 1);
  run(1);
  EXPECT_EQ(submissions(), 2) << "eight are enough";
  run(5);
  EXPECT_EQ(submissions(), 2);
  faults().is_stuck = false;
  // Without another call of the stream.
  EXPECT_TRUE(becomes_true([&] { return submissions() == 3; }));
  faults().submissions = -1;
  for (const auto& result : results) {
    float number = 0;
    const auto bytes = value_or_throw(device().download(result, sizeof number));
    std::memcpy(&number, bytes.data(), sizeof number);
    EXPECT_EQ(number, 2.0F);
  }
}

// p + x[i], for p unless the index is bad.
ir::Program guarded_sum() {
  ir::ProgramBuilder builder;
  const auto f32 = ir::TensorType{ir::DType::f32, {3}};
  const auto add = [&](const ir::Op& op, std::vector<ir::Ref> operands) {
    return value_or_throw(builder.add(op, operands, {"model.cc", 7}));
  };
  const auto p = builder.add_input(f32), x = builder.add_input(f32), i = builder.add_input({ir::DType::i64, {1}});
  const auto picked = add(ir::Expand{{3}}, {add(ir::Gather{0}, {x, i})});
  const auto sum = add(ir::Pointwise{ir::PointwiseFn::add}, {p, picked});
  return builder.finish({add(ir::Pointwise{ir::PointwiseFn::select}, {add(ir::Commit{}, {}), sum, p})});
}

TEST_F(VulkanBatches, RunsThatWaitForChecksOfRunsBeforeThemAreRecordedAFewTimes) {
  const auto executable = value_or_throw(device().compile(guarded_sum()));
  const auto x = value_or_throw(device().stream().upload(SharedBytes::own(std::vector<float>{1, 2, 3})));
  const auto index = value_or_throw(device().stream().upload(SharedBytes::own(std::vector<std::int64_t>{1})));
  auto parameter = upload(3);
  faults().recordings = kMany;
  constexpr int kRuns = 400;
  for (int k = 0; k < kRuns; ++k) {
    RunArgs args;
    args.inputs = {std::move(parameter), x, index};
    parameter = value_or_throw(device().run(executable, std::move(args))).outputs[0];
    if (k % 10 == 9) device().synchronize();
  }
  EXPECT_LT(recordings(), 40) << "one of each count of checks, and those that are under way";
  faults().recordings = -1;
  float number = 0;
  const auto bytes = value_or_throw(device().download(parameter, sizeof number));
  std::memcpy(&number, bytes.data(), sizeof number);
  EXPECT_EQ(number, 2.0F * kRuns);
}

}  // namespace
}  // namespace burn::backends::vulkan
