// Alternatives that are timed on a Vulkan device, and the choices that are kept on disk; on lavapipe where there is no
// GPU, skipped without a driver.
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/runtime/timed_target.h"
#include "backends/vulkan/runtime/vulkan_executable.h"
#include "base/settings.h"
#include "compile/codegen/alternatives.h"
#include "compile/codegen/kernels/arguments.h"
#include "tests/backends/vulkan/vulkan_test.h"
#include "tests/support/temp_folder.h"

namespace burn::backends::vulkan {
namespace {

using compile::Emitter;
using compile::View;
using ir::DType;
using ::testing::HasSubstr;

// Multiplies each element `rounds` times by a number near 1.
Status multiply(Emitter& emit, const View& from, const View& to, std::int64_t rounds) {
  compile::kernel::Writer writer(64);
  compile::kernels::Arguments arguments(writer, DType::i64);
  const auto source = arguments.address(from), target = arguments.address(to);
  const auto position = arguments.position(), end = arguments.number(from.num_elements());
  writer.when(position < end, [&] {
    const auto sum = writer.variable(writer.load(source, position));
    writer.loop(arguments.number(rounds), [&](compile::kernel::Value) { sum.set(sum.get() * 1.0000001F); });
    writer.store(target, position, sum.get());
  });
  arguments.launch(emit, from.num_elements());
  return {};
}

class VulkanChoices : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    override_setting(Setting::cache_home, folder_.path().string());
    override_setting(Setting::autotune, "on");  // on a CPU, too
  }
  void TearDown() override {
    override_setting(Setting::cache_home, "");
    override_setting(Setting::autotune, "");
    VulkanTest::TearDown();
  }

  // Opens the device as a new process would: earlier choices are known only from disk.
  static std::shared_ptr<Device> open() { return value_or_throw(Device::open(0, {})); }

  // Chooses between a slow alternative, which is listed first, and a fast one, for `count` numbers.
  std::size_t choose(const std::shared_ptr<Device>& device, std::int64_t count = 1 << 15) {
    const auto way = [this](std::string name, std::int64_t rounds) {
      return compile::Alternative{std::move(name),
                                  [this, rounds](Emitter& emit, std::span<const View> from, std::span<const View> to) {
                                    ++emitted_;
                                    return multiply(emit, from[0], to[0], rounds);
                                  }};
    };
    const compile::Alternative ways[] = {way("slow", 3000), way("quick", 1)};
    const View view{{compile::Address::Base::input, 0, 0}, DType::f32, {count}, {1}};
    TimedTarget target(device);
    return target.fastest("copy", {&view, 1}, {&view, 1}, ways);
  }

  std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      if (entry.path().filename().string().starts_with("autotune-vulkan")) return entry.path();
    return {};
  }
  std::string content() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  test::TempFolder folder_;
  int emitted_ = 0;
};

TEST_F(VulkanChoices, AreOfWhatTheDeviceDoesFastestAndAreTimedOnce) {
  const auto device = open();
  EXPECT_EQ(choose(device), 1u);
  EXPECT_EQ(emitted_, 2);
  EXPECT_EQ(choose(device), 1u);
  EXPECT_EQ(emitted_, 2);
  EXPECT_EQ(content(), "burn autotune 1\ncopy\tquick\n");
}

TEST_F(VulkanChoices, OnDiskAreTakenWithoutTiming) {
  EXPECT_EQ(choose(open()), 1u);
  EXPECT_EQ(choose(open()), 1u);
  write("burn autotune 1\ncopy\tslow\n");
  EXPECT_EQ(choose(open()), 0u);
  EXPECT_EQ(emitted_, 2);
}

TEST_F(VulkanChoices, ThatAreDamagedAreTimedAgain) {
  EXPECT_EQ(choose(open()), 1u);
  for (const std::string text : {"", "copy\tslow\n", "burn autotune 1\ncopy\tsl", "burn autotune 1\ncopy\tanother\n"}) {
    write(text);
    EXPECT_EQ(choose(open()), 1u) << text;
    EXPECT_EQ(content(), "burn autotune 1\ncopy\tquick\n") << text;
  }
}

TEST_F(VulkanChoices, ThatAreNoListAreReportedAndTimedAgain) {
  EXPECT_EQ(choose(open()), 1u);
  write("something else\ncopy\tslow\n");
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const bool is_quick = choose(open()) == 1;
        std::_Exit(is_quick ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "is no list of choices");
}

TEST_F(VulkanChoices, AreTheFirstWhereTimingIsSwitchedOff) {
  override_setting(Setting::autotune, "off");
  EXPECT_EQ(choose(open()), 0u);
  EXPECT_EQ(emitted_, 0);
  EXPECT_TRUE(file().empty());
}

TEST_F(VulkanChoices, AreTheFirstOfWhatIsSmall) {
  EXPECT_EQ(choose(open(), 4096), 0u);
  EXPECT_EQ(emitted_, 0);
}

// And what is out of memory is not kept: there may be some the next time.
TEST_F(VulkanChoices, AreTheFirstWhereThereIsNoMemoryToTimeIn) {
  auto device = open();
  testing::vulkan_faults().allocations = 0;
  EXPECT_EQ(choose(device, std::int64_t{1} << 26), 0u);
  testing::vulkan_faults().clear();
  device.reset();  // the loader of the tests knows one device at a time
  EXPECT_EQ(content(), "burn autotune 1\n");
  EXPECT_EQ(choose(open()), 1u);
}

TEST_F(VulkanChoices, AreTheFirstOnADeviceThatIsLostWhichIsSaidByTheNextRun) {
  auto device = open();
  testing::vulkan_faults().submissions = 2;
  EXPECT_EQ(choose(device), 0u);
  EXPECT_TRUE(device->is_lost());
  EXPECT_EQ(device->lost().code(), StatusCode::unavailable);
  testing::vulkan_faults().clear();
  device.reset();
  EXPECT_EQ(choose(open()), 1u);
}

TEST_F(VulkanChoices, AreTimedInMemoryThatIsNotCountedAsTensorsAndComesBack) {
  const auto device = open();
  EXPECT_EQ(choose(device), 1u);
  EXPECT_EQ(device->buffers().account().peak, 0u);
  device->memory().trim();
  EXPECT_EQ(device->memory().page_bytes(), 0u);
}

// A product by the tile that the file names. On CPUs a product goes through blocks where its depth is beyond the loops
// of the driver.
TEST_F(VulkanChoices, OfTilesAreTimedAndTakenForProducts) {
  if (open()->adapter().name.find("SwiftShader") != std::string::npos) GTEST_SKIP() << "its loops have no such limit";
  constexpr std::int64_t kRows = 16, kDepth = 61440;
  ir::ProgramBuilder builder;
  const auto a = builder.add_input({DType::f32, {kRows, kDepth}}), b = builder.add_input({DType::f32, {kDepth, kRows}});
  const auto program =
      builder.finish({value_or_throw(builder.add(ir::MatMul{}, std::vector{a, b}, {"product.cc", 1}))});
  (void)value_or_throw(VulkanExecutable::make(program, open()));
  const auto kept = content();
  EXPECT_THAT(kept, HasSubstr("product f32 16 x 16 x 57344 of 1, rows by rows\t"));

  const auto tab = kept.find('\t');
  const std::pair<std::string, int> threads_of[] = {{"32x32x16 by 4x2", 128}, {"16x16x64 by 4x1 in 4 slices", 256}};
  for (const auto& [tile, threads] : threads_of) {
    write(kept.substr(0, tab + 1) + tile + '\n');
    testing::TestDevice device(std::shared_ptr<Backend>(value_or_throw(open_vulkan_backend(0))));
    const auto executable = value_or_throw(device.compile(program));
    EXPECT_EQ(content(), kept.substr(0, tab + 1) + tile + '\n');
    const auto& commands = static_cast<const VulkanExecutable&>(*executable).lowered().commands;
    EXPECT_EQ(std::get<compile::Launch>(commands[0].what).grid.threads, threads);

    RunArgs args;
    args.inputs.push_back(
        value_or_throw(device.stream().upload(SharedBytes::own(std::vector<float>(kRows * kDepth, 0.5F)))));
    args.inputs.push_back(args.inputs[0]);
    const auto made = value_or_throw(device.run(executable, std::move(args)));
    const auto bytes = value_or_throw(device.download(made.outputs[0], 4 * kRows * kRows));
    const auto* const numbers = reinterpret_cast<const float*>(bytes.data());
    for (std::int64_t i = 0; i < kRows * kRows; ++i) ASSERT_EQ(numbers[i], 0.25F * kDepth) << tile << ' ' << i;
  }
}

// softmax(x w) and sums of its columns, of `rows` rows.
ir::Program layer_of(std::int64_t rows) {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, const std::vector<ir::Ref>& operands) {
    return value_or_throw(builder.add(op, operands, {"model.cc", 1}));
  };
  const auto x = builder.add_input({DType::f32, {rows, 24}}), w = builder.add_input({DType::f32, {24, 40}});
  const auto e = add(ir::Pointwise{ir::PointwiseFn::exp}, {add(ir::MatMul{}, {x, w})});
  const auto sums = add(ir::Expand{{rows, 40}}, {add(ir::Reduce{ir::ReduceFn::sum, {1}}, {e})});
  const auto y = add(ir::Pointwise{ir::PointwiseFn::div}, {e, sums});
  return builder.finish({y, add(ir::Reduce{ir::ReduceFn::sum, {0}}, {y})});
}

// Extents are arguments of kernels, and tiles of products come in a few sizes.
TEST_F(VulkanChoices, OfAShapeThatGrowsByOneCompileNothingAfterTheFirstSteps) {
  testing::TestDevice device(std::shared_ptr<Backend>(value_or_throw(open_vulkan_backend(0))));
  constexpr std::int64_t kFirst = 128, kSteps = 100, kSeen = 8, kMany = 1000;
  std::vector<std::int64_t> compiled_at;
  for (std::int64_t rows = kFirst; rows < kFirst + kSteps; ++rows) {
    testing::vulkan_faults().pipelines = kMany;
    ASSERT_TRUE(device.compile(layer_of(rows)).ok()) << rows;
    const auto compiled = kMany - testing::vulkan_faults().pipelines;
    if (rows >= kFirst + kSeen && compiled > 0) compiled_at.push_back(rows);
  }
  EXPECT_THAT(compiled_at, ::testing::IsEmpty());
}

}  // namespace
}  // namespace burn::backends::vulkan
