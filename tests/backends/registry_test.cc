#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/run_program.h"

namespace burn::backends {
namespace {

TEST(OpenBackend, KnowsTheCpu) {
  const auto backend = open_backend("cpu");
  ASSERT_TRUE(backend.ok());
  EXPECT_EQ((*backend)->name(), "cpu");
  EXPECT_GT((*backend)->limits().memory_bytes, 0u);
  EXPECT_TRUE((*backend)->synchronize().ok());
}

TEST(OpenBackend, ListsWhatThereIsForAnUnknownName) {
  const auto backend = open_backend("abacus");
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.status().code(), StatusCode::not_found);
  EXPECT_THAT(backend.status().message(), ::testing::HasSubstr("cpu, null"));
}

TEST(NullBackend, AcceptsProgramsAndAnswersZeros) {
  const auto backend = *open_backend("null");
  ir::ProgramBuilder program;
  const auto x = program.add_input({ir::DType::f32, {3}});
  const auto y = *program.add(ir::Pointwise{ir::PointwiseFn::exp}, std::span(&x, 1));
  const std::vector inputs = {reference::Tensor({ir::DType::f32, {3}})};
  const auto outputs = testing::run_program(*backend, program.finish({y}), inputs);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(testing::first_difference((*outputs)[0], inputs[0], 0), "");
}

TEST(NullBackend, CountsNominalBytesOnly) {
  const auto backend = *open_backend("null");
  {
    const auto huge = *backend->allocate(std::size_t{1} << 39);
    EXPECT_EQ(huge->size(), std::size_t{1} << 39);
    EXPECT_EQ(backend->memory().in_use, std::uint64_t{1} << 39);
  }
  EXPECT_EQ(backend->memory().in_use, 0u);
  EXPECT_EQ(backend->memory().peak, std::uint64_t{1} << 39);
  EXPECT_FALSE(backend->allocate(std::size_t{1} << 60).ok());
}

TEST(NullBackend, ChecksTheCountsOfARun) {
  const auto backend = *open_backend("null");
  ir::ProgramBuilder program;
  const auto x = program.add_scalar(ir::DType::f32);
  const auto executable = *backend->compile(std::make_shared<const ir::Program>(program.finish({x})));
  EXPECT_FALSE(executable->run({}).ok());
}

}  // namespace
}  // namespace burn::backends
