// What is missing or fails beneath the Vulkan backend: each a clear error, and nothing lost beside. The loader of these
// tests (faulty_loader/) does what it is told to, over any driver, lavapipe included; skipped where there is none.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/vulkan/vulkan_test.h"
#include "tests/support/temp_folder.h"

namespace burn::backends::vulkan {
namespace {

using ir::DType;
using ::testing::AllOf;
using ::testing::HasSubstr;

class VulkanFaults : public VulkanDeviceTest {};

// --- what is found -----------------------------------------------------------------------------------------------

// In a process of its own: the loader is opened once in each.
void print_adapters(const char* variable, const char* text) {
  ::setenv(variable, text, 1);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  const auto adapters = usable_adapters();
  std::fputs((adapters.ok() ? "found devices" : adapters.status().message()).c_str(), stderr);
  std::_Exit(adapters.ok() ? 1 : 0);
}

class VulkanLoader : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(VulkanLoader, ThatIsNotThereIsNamed) {
  EXPECT_EXIT(print_adapters("BURN_VULKAN_LOADER", "/nowhere/libvulkan.so.1"), ::testing::ExitedWithCode(0),
              "the loader is not there .Debian's package libvulkan1.: /nowhere/libvulkan.so.1");
}

TEST_F(VulkanLoader, ThatIsAnotherLibraryIsRefused) {
  EXPECT_EXIT(print_adapters("BURN_VULKAN_LOADER", "libm.so.6"), ::testing::ExitedWithCode(0),
              "has no vkGetInstanceProcAddr");
}

TEST_F(VulkanLoader, WithoutADriverSaysWhatToInstall) {
  EXPECT_EXIT(print_adapters("VK_DRIVER_FILES", "/nowhere/icd.json"), ::testing::ExitedWithCode(0),
              "no driver starts: install .*libX11.*VK_DRIVER_FILES");
}

TEST_F(VulkanLoader, WithADriverFileThatPointsNowhereSaysSo) {
  const test::TempFolder folder;
  const auto file = folder.path() / "icd.json";
  std::ofstream(file) << R"({"file_format_version": "1.0.0",
                             "ICD": {"library_path": "/nowhere/libdriver.so", "api_version": "1.3.0"}})";
  EXPECT_EXIT(print_adapters("VK_DRIVER_FILES", file.c_str()), ::testing::ExitedWithCode(0),
              "no driver starts.*icd.json does not start: /nowhere/libdriver.so: cannot open shared object file");
}

// As NVIDIA's driver without libX11: the library is there, and one that it is linked with is not.
TEST_F(VulkanLoader, WithADriverThatLacksALibraryNamesTheLibrary) {
  const test::TempFolder folder;
  const auto driver = folder.path() / "libdriver.so", needed = folder.path() / "libneeded.so",
             file = folder.path() / "icd.json";
  const auto link = fmt::format(
      "cc -shared -x c /dev/null -o {1} && cc -shared -x c /dev/null -x none -Wl,--no-as-needed {1} -o "
      "{0} && rm {1}",
      driver.string(), needed.string());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs
  if (std::system(link.c_str()) != 0) GTEST_SKIP() << "no compiler";
  std::ofstream(file) << R"({"ICD": {"library_path": "./libdriver.so", "api_version": "1.3.0"}})";
  EXPECT_EXIT(print_adapters("VK_DRIVER_FILES", file.c_str()), ::testing::ExitedWithCode(0),
              "icd.json does not start: .*libneeded.so: cannot open shared object file");
}

TEST_F(VulkanFaults, ADriverOfVulkan12IsNamedWithItsVersion) {
  faults().api = VK_MAKE_API_VERSION(0, 1, 2, 131);
  const auto opened = open_vulkan_backend(0);
  EXPECT_EQ(opened.status().code(), StatusCode::failed_precondition);
  EXPECT_THAT(opened.status().message(), HasSubstr("its driver speaks Vulkan 1.2, 1.3 is needed"));
}

TEST_F(VulkanFaults, ADeviceWithoutAddressesOrTimelineSemaphoresIsNamedWithBoth) {
  faults().lacks_addresses = faults().lacks_timelines = true;
  const auto opened = open_vulkan_backend(0);
  EXPECT_EQ(opened.status().code(), StatusCode::failed_precondition);
  EXPECT_THAT(opened.status().message(), AllOf(HasSubstr("addresses of buffers (bufferDeviceAddress)"),
                                               HasSubstr("timeline semaphores (timelineSemaphore)")));
}

TEST_F(VulkanFaults, AnIndexBeyondTheDevicesIsAnsweredWithWhatThereIs) {
  faults().devices = 1;
  const auto opened = open_vulkan_backend(7);
  EXPECT_EQ(opened.status().code(), StatusCode::not_found);
  EXPECT_THAT(opened.status().message(),
              AllOf(HasSubstr("\"vulkan:7\""), HasSubstr("vulkan:0 is "), HasSubstr("vulkan:1 is ")));
  // By a name that several have.
  const auto name = value_or_throw(usable_adapters()).front().name;
  EXPECT_THAT(find_adapter(name).status().message(), HasSubstr(fmt::format("\"vulkan:{}\" is 2 devices", name)));
}

// --- what a device lacks -----------------------------------------------------------------------------------------

TEST_F(VulkanFaults, WhatIsF64IsRefusedByNameAndCallSiteWhereThereIsNone) {
  faults().lacks_f64 = true;
  const auto refused = device().compile(shifted_exp(10, 1, DType::f64));
  EXPECT_EQ(refused.status().code(), StatusCode::unimplemented);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr("f64"), HasSubstr("model.cc:4")));
  // Also what becomes f64.
  ir::ProgramBuilder builder;
  const auto x = builder.add_input({DType::f32, {4}});
  const auto wide = value_or_throw(builder.add(ir::Cast{DType::f64}, std::vector{x}, {"model.cc", 77}));
  const auto cast = device().compile(builder.finish({wide}));
  EXPECT_EQ(cast.status().code(), StatusCode::unimplemented);
  EXPECT_THAT(cast.status().message(), AllOf(HasSubstr("f64"), HasSubstr("model.cc:77")));
  // f32 is computed all the same.
  EXPECT_EQ(*first_of(value_or_throw(device().compile(shifted_exp(10))), upload(10)), 2.0F);
}

// --- memory --------------------------------------------------------------------------------------------------------

TEST_F(VulkanFaults, MemoryThatRunsOutInARunFailsTheRunAndTheNextOneWorks) {
  constexpr std::size_t kCount = std::size_t{48} << 20;  // more than a page has
  const auto executable = value_or_throw(device().compile(shifted_exp(kCount)));
  auto input = upload(kCount);
  faults().allocations = 0;
  const auto failed = first_of(executable, input);
  EXPECT_EQ(failed.status().code(), StatusCode::resource_exhausted);
  EXPECT_THAT(failed.status().message(), AllOf(HasSubstr("out of memory: 201326592 bytes"),
                                               HasSubstr("out of device memory"), HasSubstr("model.cc:4")));
  faults().allocations = -1;
  EXPECT_EQ(*first_of(executable, input), 2.0F);
}

TEST_F(VulkanFaults, MemoryThatRunsOutInAPipelineFailsTheProgramAndTheNextOneWorks) {
  device();
  faults().pipelines = 0;
  const auto failed = device().compile(shifted_exp(100, 5));
  EXPECT_EQ(failed.status().code(), StatusCode::resource_exhausted);
  EXPECT_THAT(failed.status().message(), HasSubstr("compiling a kernel: out of host memory"));
  faults().pipelines = -1;
  EXPECT_EQ(*first_of(value_or_throw(device().compile(shifted_exp(100, 5))), upload(100)), 6.0F);
}

TEST_F(VulkanFaults, MemoryThatRunsOutInRecordingFailsTheRunAndTheNextOneWorks) {
  const auto executable = value_or_throw(device().compile(shifted_exp(100)));
  const auto input = upload(100);
  faults().recordings = 0;
  const auto failed = first_of(executable, input);
  EXPECT_EQ(failed.status().code(), StatusCode::resource_exhausted);
  faults().recordings = -1;
  EXPECT_EQ(*first_of(executable, input), 2.0F);
}

// --- a device that is lost, or does not answer
// -------------------------------------------------------------------------

TEST_F(VulkanFaults, ADeviceThatIsLostFailsWhatWasUnderWayAndCanBeOpenedAgain) {
  const auto executable = value_or_throw(device().compile(shifted_exp(100)));
  const auto input = upload(100);
  EXPECT_EQ(*first_of(executable, input), 2.0F);
  faults().submissions = 0;
  const auto failed = first_of(executable, input);
  EXPECT_EQ(failed.status().code(), StatusCode::unavailable);
  EXPECT_THAT(failed.status().message(), HasSubstr("lost"));
  const auto name = value_or_throw(usable_adapters()).front().name;
  for (const auto& status : {device().backend().health(), device().compile(shifted_exp(7)).status(),
                             device().backend().open_stream({}).status(), first_of(executable, input).status()}) {
    EXPECT_EQ(status.code(), StatusCode::unavailable);
    EXPECT_THAT(status.message(), AllOf(HasSubstr(name), HasSubstr("lost"), HasSubstr("open it again")));
  }
  device_.reset();
  faults().submissions = -1;
  EXPECT_TRUE(device().backend().health().ok());
  EXPECT_EQ(*first_of(value_or_throw(device().compile(shifted_exp(100))), upload(100)), 2.0F);
}

TEST_F(VulkanFaults, ADeviceThatDoesNotAnswerHoldsNoOtherThreadThanItsOwn) {
  const auto executable = value_or_throw(device().compile(shifted_exp(100)));
  RunArgs args;
  args.inputs.push_back(upload(100));
  device().synchronize();
  faults().is_stuck = true;
  const auto result = value_or_throw(device().run(executable, std::move(args)));  // enqueues
  std::atomic<bool> is_done = false;
  device().stream().download(result.outputs[0], sizeof(float),
                             [&](const SharedBytes&, const Failure&) { is_done = true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_done);
  faults().is_stuck = false;
  device().synchronize();
  EXPECT_TRUE(is_done);
}

// --- two sessions
// ------------------------------------------------------------------------------------------------------

TEST_F(VulkanFaults, TwoStreamsOfOneQueueKeepTheirNumbersApart) {
  const std::shared_ptr<Backend> backend = value_or_throw(open_vulkan_backend(0));
  const auto work = [&](double c, int& wrong) {
    testing::TestDevice mine(backend);
    const auto executable = value_or_throw(mine.compile(shifted_exp(1000, c)));
    for (int k = 0; k < 50; ++k) {
      RunArgs args;
      args.inputs.push_back(value_or_throw(mine.stream().upload(SharedBytes::own(std::vector<float>(1000, 0.0F)))));
      const auto result = value_or_throw(mine.run(executable, std::move(args)));
      if (k % 5 != 0) continue;
      float number = 0;
      std::memcpy(&number, value_or_throw(mine.download(result.outputs[0], sizeof number)).data(), sizeof number);
      wrong += number == static_cast<float>(1 + c) ? 0 : 1;
    }
  };
  int wrong[2] = {};
  std::thread other([&] { work(10, wrong[0]); });
  work(20, wrong[1]);
  other.join();
  EXPECT_EQ(wrong[0] + wrong[1], 0);
}

TEST_F(VulkanFaults, AStreamThatEndsWithRecordingsInFlightGivesItsMemoryBack) {
  const std::shared_ptr<Backend> backend = value_or_throw(open_vulkan_backend(0));
  {
    testing::TestDevice mine(backend);
    const auto executable = value_or_throw(mine.compile(shifted_exp(1 << 16)));
    auto input = value_or_throw(mine.stream().upload(SharedBytes::own(std::vector<float>(1 << 16, 0.0F))));
    for (int k = 0; k < 64; ++k) {
      RunArgs args;
      args.inputs.push_back(input);
      EXPECT_TRUE(mine.run(executable, std::move(args)).ok());
    }
  }
  backend->trim(0, std::chrono::milliseconds(0));
  EXPECT_EQ(backend->memory().in_use, 0u);
  EXPECT_EQ(backend->memory().reserved, 0u);
}

}  // namespace
}  // namespace burn::backends::vulkan
