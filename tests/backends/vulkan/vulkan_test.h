// What tests of the Vulkan backend over the loader with faults have in common.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/vulkan/driver/adapters.h"
#include "backends/vulkan/runtime/vulkan_backend.h"
#include "base/error.h"
#include "tests/backends/test_device.h"
#include "tests/backends/vulkan/faulty_loader/faults.h"

namespace burn::backends::vulkan {

// A test that begins and ends without faults; skipped where there is no device.
class VulkanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    faults().clear();
    if (const auto there = usable_adapters(); !there.ok()) GTEST_SKIP() << there.status().message();
  }
  void TearDown() override { faults().clear(); }

  static testing::VulkanFaults& faults() { return testing::vulkan_faults(); }
};

// y = exp(x) + c, of n numbers; other constants are other kernels.
inline ir::Program shifted_exp(std::int64_t n, double c = 1, ir::DType dtype = ir::DType::f32) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({dtype, {n}});
  const auto e = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::exp}, std::vector{x}, {"model.cc", 41}));
  const auto one = value_or_throw(builder.add(ir::Constant{.dtype = dtype, .real = c}, {}, {"model.cc", 42}));
  const auto all = value_or_throw(builder.add(ir::Expand{{n}}, std::vector{one}, {"model.cc", 42}));
  return builder.finish(
      {value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, std::vector{e, all}, {"model.cc", 43}))});
}

// A test with a device of its own.
class VulkanDeviceTest : public VulkanTest {
 protected:
  testing::TestDevice& device() {
    if (!device_) device_.emplace(std::shared_ptr<Backend>(value_or_throw(open_vulkan_backend(0))));
    return *device_;
  }
  // Uploads `count` zeros.
  BufferPtr upload(std::size_t count) {
    return value_or_throw(device().stream().upload(SharedBytes::own(std::vector<float>(count, 0.0F))));
  }
  // Runs a program with one input and one output; returns the output's first element, or its failure.
  Result<float> first_of(const std::shared_ptr<Executable>& executable, BufferPtr input) {
    RunArgs args;
    args.inputs.push_back(std::move(input));
    BURN_TRY(auto result, device().run(executable, std::move(args)));
    if (!result.failures.empty() && result.failures[0]) return *result.failures[0];
    float number = 0;
    BURN_TRY(const auto bytes, device().download(result.outputs[0], sizeof number));
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  std::optional<testing::TestDevice> device_;
};

}  // namespace burn::backends::vulkan
