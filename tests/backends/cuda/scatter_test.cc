// What rows written into a large table cost: no copy of it, and memory for the rows.
#include <gtest/gtest.h>

#include "backends/cuda/driver/nvrtc.h"
#include "tests/backends/cuda/lowered.h"

namespace burn::testing {
namespace {

constexpr std::int64_t kCount = 1'000'000, kWidth = 32, kRows = 1024;

struct Case {
  ir::ScatterFn fn;
  ir::DType dtype;
};

ir::Program program(const Case& c) {
  ir::ProgramBuilder builder;
  const auto table = builder.add_input({c.dtype, {kCount, kWidth}});
  const auto column = builder.add_input({ir::DType::i64, {kRows, 1}});
  const auto values = builder.add_input({c.dtype, {kRows, kWidth}});
  builder.donate(table.index());
  const auto index = builder.add(ir::Expand{{kRows, kWidth}}, {&column, 1})->result(0);
  const ir::Ref operands[] = {table, index, values};
  return builder.finish({*builder.add(ir::Scatter{0, c.fn}, operands)});
}

TEST(CudaScatter, IntoATableThatIsGivenAwayTakesNothingOfItsSize) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const Case cases[] = {{ir::ScatterFn::assign, ir::DType::f32},
                        {ir::ScatterFn::assign, ir::DType::bf16},
                        {ir::ScatterFn::assign, ir::DType::f64},
                        {ir::ScatterFn::add, ir::DType::f32}};
  for (const auto& c : cases) {
    const auto lowered = lower(*device, program(c), true);
    ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
    EXPECT_EQ(lowered->outputs[0].reuses_input, 0);
    EXPECT_LE(lowered->arena.bytes, 4u << 20);
    for (const auto& source : lowered->sources) {
      const auto code = cuda::compile_kernel(source.text, "sm_90");
      EXPECT_TRUE(code.ok()) << code.status().to_string();
    }
  }
}

}  // namespace
}  // namespace burn::testing
