// Parts of a random value drawn apart are those of the whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::RandomFn;
using ir::Shape;

TestDevice& cpu() {
  static TestDevice device{"cpu"};
  return device;
}

// The numbers of a program that draws this, alone or (f32) as a part of a fused group, and then another one.
std::vector<reference::Tensor> drawn(const ir::Random& op, bool is_fused) {
  ir::ProgramBuilder program;
  auto x = *program.add_random(op);
  if (is_fused) {
    const std::array operands{x, x};
    x = *program.add(ir::Pointwise{ir::PointwiseFn::add}, operands);
    x = *program.add(ir::Pointwise{ir::PointwiseFn::neg}, {&x, 1});
  }
  const auto next = *program.add_random({.fn = RandomFn::bits, .dtype = DType::u64, .shape = {5}});
  const auto result =
      run_program(cpu(), program.finish({x, next}), {}, {.scalars = {}, .seed = 77, .random_offset = 12});
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return *result;
}

struct Draw {
  RandomFn fn;
  DType dtype;
  bool is_fused;
};

class RandomParts : public ::testing::TestWithParam<Draw> {};

TEST_P(RandomParts, AreThoseOfTheWhole) {
  const auto [fn, dtype, is_fused] = GetParam();
  const Shape whole{12, 7, 30};
  const auto all = drawn({.fn = fn, .dtype = dtype, .shape = whole}, is_fused);
  for (const int axis : {0, 1, 2}) {
    for (const std::int64_t parts : {1, 2, 3, 5}) {
      for (std::int64_t part = 0; part < parts; ++part) {
        ir::Dims starts = ir::Dims::filled(3, 0);
        Shape shape = whole;
        starts[axis] = whole[axis] * part / parts;
        shape[axis] = whole[axis] * (part + 1) / parts - starts[axis];
        SCOPED_TRACE(to_string(shape) + " from " + to_string(starts));
        const auto some = drawn({.fn = fn, .dtype = dtype, .shape = shape, .whole = whole, .starts = starts}, is_fused);
        std::size_t i = 0;
        reference::for_each_index(shape, [&](ir::Dims at) {
          for (int d = 0; d < 3; ++d) at[d] += starts[d];
          ASSERT_EQ(some[0].bits[i++], all[0].bits[reference::position(whole, at)]);
        });
        EXPECT_EQ(some[1].bits, all[1].bits) << "a part takes as much of the stream as the whole";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, RandomParts,
    ::testing::Values(Draw{RandomFn::uniform, DType::f32, false}, Draw{RandomFn::uniform, DType::f32, true},
                      Draw{RandomFn::normal, DType::f32, false}, Draw{RandomFn::normal, DType::f32, true},
                      Draw{RandomFn::normal, DType::f64, false}, Draw{RandomFn::bits, DType::u64, false}));

}  // namespace
}  // namespace burn::testing
