#include "backends/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/test_device.h"

namespace burn::backends {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OpenBackend, KnowsTheCpu) {
  for (const char* name : {"cpu", "cpu:0"}) {
    const auto backend = open_backend(name);
    ASSERT_TRUE(backend.ok());
    EXPECT_EQ((*backend)->name(), "cpu");
    EXPECT_GT((*backend)->limits().memory_bytes, 0u);
  }
}

TEST(OpenBackend, ListsWhatThereIsForAnUnknownName) {
  const auto backend = open_backend("abacus");
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.status().code(), StatusCode::not_found);
  for (const auto& kind : backend_kinds()) EXPECT_THAT(backend.status().message(), HasSubstr(kind.name));
}

TEST(OpenBackend, SaysWhichDevicesOfAKindThereAre) {
  EXPECT_EQ(open_backend("cpu:1").status(), not_found("no device \"cpu:1\": of this kind there is only cpu:0 here"));
  EXPECT_EQ(open_backend("null:99").status(), not_found("no device \"null:99\": there are null:0 to null:15"));
  for (const char* device : {"cpu:", "cpu:x", "cpu:-1", "cpu:0 ", "cpu:99999999999999999999"}) {
    EXPECT_EQ(open_backend(device).status().code(), StatusCode::invalid_argument) << device;
  }
}

TEST(OpenBackend, OpensSeveralDevicesOfAKind) {
  const auto first = *open_backend("null:0"), third = *open_backend("null:2");
  EXPECT_EQ(first->name(), "null");
  EXPECT_EQ(third->name(), "null:2");
}

// Loaded when it is asked for: whatever is missing for it, the program goes on and says what.
TEST(OpenBackend, SaysWhyABackendThatIsLoadedIsNotToBeHad) {
  const auto opened = open_backend("cuda");
  if (opened.ok()) GTEST_SKIP() << "there is a GPU here";
  const auto status = opened.status();
  const bool is_built = status.code() == StatusCode::failed_precondition;
  EXPECT_THAT(status.message(), ::testing::HasSubstr(is_built ? "CUDA" : "the cuda backend is not installed"));
  EXPECT_TRUE(open_backend("cpu").ok());
}

TEST(RegisterBackend, MakesAKindKnown) {
  register_backend({.name = "abacus of the test", .devices = 2, .computes = false, .open = [](int index) {
                      return Result<std::unique_ptr<Backend>>(unavailable("no beads on " + std::to_string(index)));
                    }});
  EXPECT_EQ(open_backend("abacus of the test:1").status(), unavailable("no beads on 1"));
  EXPECT_EQ(open_backend("abacus of the test:2").status().code(), StatusCode::not_found);
}

TEST(ParseDevices, TakesNamesAndFurtherNumbers) {
  EXPECT_THAT(*parse_devices("cpu"), ElementsAre("cpu"));
  EXPECT_THAT(*parse_devices("cpu,null"), ElementsAre("cpu", "null"));
  EXPECT_THAT(*parse_devices("cuda:0,1,cpu,null:3,4"), ElementsAre("cuda:0", "cuda:1", "cpu", "null:3", "null:4"));
}

TEST(ParseDevices, TakesAllOfAKind) {
  EXPECT_THAT(*parse_devices("cpu:all"), ElementsAre("cpu:0"));
  EXPECT_EQ(parse_devices("cpu,null:all")->size(), 17u);
  EXPECT_EQ(parse_devices("null:all")->back(), "null:15");
  EXPECT_EQ(parse_devices("abacus:all").status().code(), StatusCode::not_found);
  EXPECT_THAT(parse_devices("null:3,null:all").status().message(), HasSubstr("null:3 is named twice"));
}

// An empty list would not say why there is no GPU.
TEST(ParseDevices, TakesTheFirstOfAKindThatHasNoneHere) {
  const auto devices = parse_devices("cuda:all");
  if (!devices.ok()) {
    EXPECT_THAT(devices.status().message(), HasSubstr("the cuda backend is not installed"));
    return;
  }
  ASSERT_FALSE(devices->empty());
  EXPECT_EQ(devices->front(), "cuda:0");
}

TEST(BackendKinds, SayWhereTheyAreFrom) {
  EXPECT_EQ(backend_kind("cpu")->origin, "built in");
  EXPECT_EQ(backend_kind("abacus").status().code(), StatusCode::not_found);
  const auto cuda = backend_kind("cuda");
  if (cuda.status().code() == StatusCode::not_found) GTEST_SKIP() << "it is not built";
  ASSERT_TRUE(cuda.ok()) << cuda.status().to_string();
  EXPECT_THAT(cuda->origin, HasSubstr("libburn_cuda.so"));
  const auto lines = cuda->report();
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("river")));  // which one, or that there is none
  for (const auto* what : {"NVRTC", "nvrtc"}) {
    if (std::ranges::any_of(lines, [&](const auto& line) { return line.find(what) != std::string::npos; })) return;
  }
  FAIL() << "nothing of NVRTC";
}

TEST(ParseDevices, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {{"", "empty name"},
                                                       {"cpu,", "empty name"},
                                                       {",cpu", "empty name"},
                                                       {"1,2", "1 follows no kind"},
                                                       {"cpu,cpu", "cpu is named twice"}};
  for (const auto& [list, why] : cases) {
    const auto devices = parse_devices(list);
    ASSERT_FALSE(devices.ok()) << list;
    EXPECT_EQ(devices.status().code(), StatusCode::invalid_argument);
    EXPECT_THAT(devices.status().message(), HasSubstr(why));
  }
}

TEST(NullBackend, AcceptsProgramsAndAnswersZeros) {
  testing::TestDevice device{"null"};
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {3}});
  const auto y = *program.add(ir::Pointwise{ir::PointwiseFn::exp}, std::span(&x, 1));
  const std::vector inputs = {reference::Tensor({ir::DType::f32, {3}})};
  const auto outputs = testing::run_program(device, program.finish({y}), inputs);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(testing::first_difference((*outputs)[0], inputs[0], 0), "");
}

TEST(NullBackend, CountsNominalBytesOnly) {
  testing::TestDevice device{"null"};
  ir::ProgramBuilder program;
  const auto x = program.add_scalar(ir::DType::f32);
  const auto huge = *program.add(ir::Expand{{std::int64_t{1} << 37}}, std::span(&x, 1));
  const auto executable = *device.compile(program.finish({huge}));
  const std::uint64_t one = 1;
  {
    const auto result = *device.run(executable, {.scalars = {&one, 1}});
    EXPECT_EQ(result.outputs[0]->size(), std::size_t{1} << 39);
    EXPECT_EQ(device.backend().memory().in_use, std::uint64_t{1} << 39);
  }
  EXPECT_EQ(device.backend().memory().in_use, 0u);
  EXPECT_EQ(device.backend().memory().peak, std::uint64_t{1} << 39);
}

}  // namespace
}  // namespace burn::backends
