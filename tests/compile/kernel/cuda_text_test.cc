// Kernels of the kernel language as CUDA C++: what a reader sees. That NVRTC compiles them:
// tests/backends/cuda/language_test.cc.
#include <algorithm>

#include <gtest/gtest.h>

#include "compile/codegen/dialects/cuda_expressions.h"
#include "compile/codegen/dialects/cuda_kernel.h"
#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernel/writer.h"
#include "tests/compile/kernel/every_instruction.h"

namespace burn::testing {
namespace {

using compile::kernel::Code;
using compile::kernel::Value;
using compile::kernel::Writer;
using ir::DType;

TEST(CudaText, OfElementsHasAStatementForEachInstruction) {
  Writer w(256);
  const auto x = w.address(DType::f32), y = w.address(DType::f32);
  const Value count = w.number(DType::i64);
  const Value i = to(DType::i64, w.thread());
  w.when(i < count, [&] {
    const Value v = w.load(x, i);
    const Value is_negative = v < 0.0F;
    const Value twice = v * 2.0F;
    const Value more = twice + 1.0F;
    w.store(y, i, select(is_negative, v.number(0), more));
  });
  EXPECT_EQ(compile::print_cuda(w.take()).text,
            R"(#include "backends/cuda/kernels/instructions.h"
namespace burn::cuda {
extern "C" __global__ void __launch_bounds__(256) burn_kernel(const float* const p0, float* const p1, Number<std::int64_t> const p2) {
  const unsigned block = blockIdx.x;
  const std::int64_t v2 = static_cast<std::int64_t>(threadIdx.x);
  const bool v3 = v2 < p2.value;
  if (v3) {
    const float v5 = p0[v2];
    const bool v7 = v5 < 0.0f;
    const float v9 = __fmul_rn(v5, 2.0f);
    const float v11 = v9 + 1.0f;
    const float v13 = v7 ? 0.0f : v11;
    p1[v2] = v13;
  }
}
}
)");
}

TEST(CudaText, OfLoopsVariablesSharedArraysAndSubgroups) {
  Writer w(64);
  const auto y = w.address(DType::f32);
  const auto parts = w.shared(DType::f32, 64);
  const auto sum = w.variable(w.constant(DType::f32, 0.0));
  w.loop(w.index(0), w.index(8), w.index(2), [&](Value k) {
    w.break_when(k == w.thread());
    const Value before = sum.get();
    sum.set(before + w.load(parts, k));
  });
  w.barrier();
  w.store(y, w.index(0), w.shuffle_xor(sum.get(), 16));
  const auto text = compile::print_cuda(w.take()).text;
  EXPECT_EQ(text.substr(text.find("  __shared__")), R"(  __shared__ __align__(16) float s0[64];
  float v1 = 0.0f;
  for (std::uint32_t v5 = 0u; v5 < 8u; v5 += 2u) {
    const bool v7 = v5 == threadIdx.x;
    if (v7) break;
    const float v9 = v1;
    const float v10 = s0[v5];
    const float v11 = v9 + v10;
    v1 = v11;
  }
  __syncthreads();
  const float v15 = v1;
  const float v16 = __shfl_xor_sync(kWholeWarp, v15, 16);
  p0[0u] = v16;
}
}
)");
}

TEST(CudaText, OfNumbersKeepsTheirBits) {
  const auto f32 = [](float number) { return compile::cuda_literal(DType::f32, std::bit_cast<std::uint32_t>(number)); };
  EXPECT_EQ(f32(-0.0F), "(-0.0f)");
  EXPECT_EQ(f32(0x1p-149F), "1e-45f");
  EXPECT_EQ(f32(0.1F), "0.1f");
  EXPECT_EQ(f32(-std::numeric_limits<float>::infinity()), "__uint_as_float(0xff800000u)");
  EXPECT_EQ(compile::cuda_literal(DType::f32, 0x7fc00001), "__uint_as_float(0x7fc00001u)");
  EXPECT_EQ(compile::cuda_literal(DType::f64, 0x7ff0000000000000), "__longlong_as_double(0x7ff0000000000000ll)");
  EXPECT_EQ(compile::cuda_literal(DType::i32, 0x80000000), "(-2147483647 - 1)");
  EXPECT_EQ(compile::cuda_literal(DType::i64, std::uint64_t{1} << 63), "(-9223372036854775807ll - 1)");
  EXPECT_EQ(compile::cuda_literal(DType::u64, ~std::uint64_t{0}), "18446744073709551615ull");
  EXPECT_EQ(compile::cuda_literal(DType::i8, 0xfe), "std::int8_t(254)");
}

// So that a new instruction is printed, too: the kernel is compiled by NVRTC in another test.
TEST(CudaText, IsTestedWithEveryInstruction) {
  const auto kernel = every_instruction();
  ASSERT_TRUE(check(kernel).ok()) << check(kernel).message();
  for (int code = 0; code <= static_cast<int>(Code::abs); ++code) {
    const bool has =
        std::ranges::any_of(kernel.body, [&](const auto& one) { return static_cast<int>(one.code) == code; });
    EXPECT_TRUE(has) << name_of(static_cast<Code>(code));
  }
}

TEST(CudaText, OfAMergeableKernelNeeds256ThreadsAndItsBlocksNumberAlone) {
  const auto with = [](int threads, bool asks_for_blocks) {
    Writer w(threads);
    const auto y = w.address(DType::u32);
    w.store(y, w.block(), asks_for_blocks ? w.blocks() : w.thread());
    return compile::print_cuda_block(w.take());
  };
  ASSERT_TRUE(with(256, false));
  EXPECT_NE(with(256, false)->merged(4).text.find("p0[block] = threadIdx.x;"), std::string::npos);
  EXPECT_FALSE(with(128, false));
  EXPECT_FALSE(with(256, true));
}

}  // namespace
}  // namespace burn::testing
