// What a run on the CPU says that it takes before it begins, and what it took.
#include <cstdint>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/random_program.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using backends::Executable;
using ir::DType;
using ir::PointwiseFn;
using ir::Ref;

constexpr std::int64_t kSide = 512;
constexpr std::uint64_t kMatrix = kSide * kSide * sizeof(float);

class RunMemory : public ::testing::Test {
 protected:
  struct Bytes {
    std::uint64_t planned = 0, measured = 0;
  };

  Ref input(const ir::Shape& shape = {kSide, kSide}, bool donated = false) {
    const auto ref = program_.add_input({DType::f32, shape});
    if (donated) program_.donate(ref.index());
    return ref;
  }
  Ref donated(const ir::Shape& shape = {kSide, kSide}) { return input(shape, true); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return *program_.add(op, std::span(operands.begin(), operands.size()));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref matmul(Ref a, Ref b) { return add(ir::MatMul{}, {a, b}); }

  // Before the first run and after it.
  Bytes bytes(std::vector<Ref> outputs) { return bytes(program_.finish(std::move(outputs))); }
  Bytes bytes(const ir::Program& program) {
    const auto executable = value_or_throw(device_.compile(program));
    const Bytes planned{.planned = executable->run_bytes().peak};
    backends::RunArgs args;
    std::vector<backends::BufferPtr> held;  // as a session holds what it does not give away
    for (const auto& input : program.inputs) {
      args.inputs.push_back(zeros(input.type.num_bytes()));
      if (!input.donated) held.push_back(args.inputs.back());
    }
    const std::vector<std::uint64_t> scalars(static_cast<std::size_t>(program.scalar_count));
    args.scalars = scalars;
    const auto result = value_or_throw(device_.run(executable, std::move(args)));
    EXPECT_TRUE(result.failures.empty());
    EXPECT_EQ(executable->run_bytes().kept, 0u);
    return {planned.planned, executable->run_bytes().peak};
  }

  TestDevice device_{"cpu"};
  ir::ProgramBuilder program_;

 private:
  backends::BufferPtr zeros(std::size_t bytes) {
    const std::vector<std::byte> numbers(bytes);
    return value_or_throw(device_.stream().upload(SharedBytes::own(numbers)));
  }
};

void expect_exactly(std::uint64_t planned, std::uint64_t measured, std::uint64_t bytes) {
  EXPECT_EQ(planned, bytes);
  EXPECT_GE(measured, bytes);
  EXPECT_LE(measured, bytes + kMatrix / 4);  // and work space of kernels
}

TEST_F(RunMemory, IsThatOfValuesWhichLiveAtATime) {
  const auto x = input();
  auto y = x;
  for (int i = 0; i < 6; ++i) y = matmul(y, x);
  const auto [planned, measured] = bytes({y});
  expect_exactly(planned, measured, 2 * kMatrix);  // one that is read, and one that is made
}

TEST_F(RunMemory, CountsIntermediatesThatAreLargerThanWhatGoesInAndOut) {
  const auto column = input({4 * kSide, 1}), row = input({1, 4 * kSide});
  const auto sum = add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {matmul(column, row)});
  const auto [planned, measured] = bytes({sum});
  EXPECT_GE(planned, 16 * kMatrix);
  EXPECT_LE(planned, 17 * kMatrix);
  EXPECT_LE(measured, planned + kMatrix / 4);
  EXPECT_GE(measured, 16 * kMatrix);
}

TEST_F(RunMemory, OfUpdatesInPlaceIsNothing) {
  std::vector<Ref> updated;
  for (int i = 0; i < 20; ++i) {
    const auto weight = donated(), gradient = input();
    updated.push_back(add(PointwiseFn::sub, {weight, gradient}));
  }
  const auto [planned, measured] = bytes(std::move(updated));
  expect_exactly(planned, measured, 0);
}

TEST_F(RunMemory, ADonatedInputMakesRoomAfterItsLastUse) {
  const auto x = donated(), w = input();
  const auto y = matmul(x, w);
  const auto z = matmul(y, w);
  const auto [planned, measured] = bytes({z});
  expect_exactly(planned, measured, kMatrix);  // y beside x, then z beside y
}

TEST_F(RunMemory, ViewsTakeNothingAndOutputsThatAreViewsAreCopied) {
  const auto x = input();
  const auto y = matmul(x, x);
  const auto turned = add(ir::Permute{{1, 0}}, {y});
  const auto z = matmul(x, turned);
  {
    const auto [planned, measured] = bytes({z});
    expect_exactly(planned, measured, 2 * kMatrix);
  }
  const auto a = input();
  const auto b = matmul(a, a);
  const auto [planned, measured] = bytes({add(ir::Permute{{1, 0}}, {b})});
  EXPECT_GE(planned, kMatrix);  // or two: a product may be written transposed
  EXPECT_LE(planned, 2 * kMatrix);
  EXPECT_LE(measured, planned + kMatrix / 4);
}

TEST_F(RunMemory, OfAConvolutionCoversCopiesInOtherLayouts) {
  const auto x = input({8, 16, 64, 64}), w = input({16, 16, 3, 3});
  const ir::Conv conv{.stride = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}, .dilation = {1, 1}, .groups = 1};
  const auto [planned, measured] = bytes({add(conv, {x, w})});
  EXPECT_LE(measured, planned);
  EXPECT_GE(measured, 2 * kMatrix);
}

TEST_F(RunMemory, OfManyProgramsIsNoLessThanWhatTheyTook) {
  constexpr std::uint64_t kWorkSpace = 1 << 16;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    for (const bool donates : {false, true}) {
      auto program = random_program(seed).program;
      for (auto& input : program.inputs) input.donated = donates;
      const auto [planned, measured] = bytes(program);
      EXPECT_LE(measured, planned + kWorkSpace) << "seed " << seed;
      EXPECT_LE(planned, 2 * measured + kWorkSpace) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace burn::testing
