// The kernels that the samples of every op are in the kernel language, printed as CUDA C++ and compiled by NVRTC: a few
// of each op, and more as a slow test. Compiled only: that needs no GPU.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cuda/driver/nvrtc.h"
#include "compile/codegen/dialects/cuda_kernel.h"
#include "compile/codegen/kernel/writer.h"
#include "ir/catalogue.h"
#include "tests/backends/cuda/lowered.h"
#include "tests/compile/kernel/every_instruction.h"
#include "tests/compile/kernel/interpreted_device.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

// At most so many of an op.
#ifdef BURN_EVERY_KERNEL
constexpr std::size_t kSamples = 48, kKernels = 12;
#else
constexpr std::size_t kSamples = 4, kKernels = 2;
#endif

compile::DeviceFacts facts() {
  compile::DeviceFacts facts{.multiprocessors = 132, .shared_bytes = 1 << 17, .shared_bytes_per_block = 49152};
  facts.has_f16_tiles = facts.has_bf16_tiles = true;
  return facts;
}

// Kernels of several texts in one, as most of the time goes into reading headers.
std::string together(const std::vector<std::string>& texts) {
  constexpr std::string_view kName = "burn_kernel";
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto text = texts[i];
    text.replace(text.find(kName), kName.size(), fmt::format("{}_{}", kName, i));
    all += text;
  }
  return all;
}

TEST(CudaLanguage, EveryInstructionCompiles) {
  for (const auto* architecture : {"sm_80", "sm_90"}) {
    const auto code = cuda::compile_kernel(compile::print_cuda(every_instruction()).text, architecture);
    EXPECT_TRUE(code.ok()) << code.status().message();
  }
}

// docs/adr/061: of one other tensor, and enough of it for several vectors of each thread.
TEST(CudaLanguage, GroupsOfALargeTensorAreMadeInIt) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const auto is_from_language = [&](std::int64_t count, bool is_of_two, ir::DType dtype) {
    ir::ProgramBuilder builder;
    const auto add = [&](ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) {
      return *builder.add(ir::Pointwise{fn}, std::span(operands.begin(), operands.size()));
    };
    const auto x = builder.add_input({dtype, {count}}), y = builder.add_input({dtype, {count}});
    const auto e = add(ir::PointwiseFn::exp, {x});
    const auto lowered = lower(*device, builder.finish({is_of_two ? add(ir::PointwiseFn::mul, {e, y}) : e}), true);
    EXPECT_TRUE(lowered.ok()) << lowered.status().to_string();
    EXPECT_EQ(lowered->sources.size(), 1u);
    const auto& text = lowered->sources[0].text;
    const auto code = cuda::compile_kernel(text, "sm_90");
    EXPECT_TRUE(code.ok()) << code.status().message();
    return text.find("kernels/instructions.h") != std::string::npos;
  };
  constexpr std::int64_t kLarge = (std::int64_t{1} << 26) + 3;
  EXPECT_TRUE(is_from_language(kLarge, false, ir::DType::f32));
  EXPECT_TRUE(is_from_language(kLarge, false, ir::DType::bf16));
  EXPECT_TRUE(is_from_language(kLarge, false, ir::DType::f16));
  EXPECT_FALSE(is_from_language(kLarge, true, ir::DType::f32));
  EXPECT_FALSE(is_from_language(1000, false, ir::DType::f32));
}

TEST(CudaLanguage, KernelsOfEveryOpCompile) {
  std::vector<std::vector<std::string>> batches;
  std::size_t count = 0;
  for (const auto& entry : ir::catalogue()) {
    const auto all = samples(entry.name);
    const auto step = std::max<std::size_t>(all.size() / kSamples, 1);
    std::map<std::string, KernelPtr> kernels;
    for (std::size_t n = 0; n < all.size() && kernels.size() < kKernels; n += step) {
      const auto made = kernels_of(all[n].program, facts(), n / step % 2 == 0);
      if (made.status().code() == StatusCode::unimplemented) continue;
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      for (const auto& kernel : *made) kernels.emplace(key(*kernel), kernel);
    }
    auto& texts = batches.emplace_back();
    for (const auto& [key, kernel] : kernels) {
      if (texts.size() == kKernels) break;
      texts.push_back(compile::print_cuda(*kernel).text);
    }
    count += texts.size();
  }
  std::atomic<std::size_t> next = 0;
  std::vector<std::string> complaints(batches.size());
  const auto work = [&] {
    for (auto b = next++; b < batches.size(); b = next++) {
      if (batches[b].empty()) continue;
      const auto code = cuda::compile_kernel(together(batches[b]), "sm_90");
      if (!code.ok()) complaints[b] = code.status().message();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::min(std::thread::hardware_concurrency(), 16u); ++i) threads.emplace_back(work);
  }
  for (const auto& complaint : complaints) EXPECT_EQ(complaint.substr(0, 4000), "");
  EXPECT_GT(count, ir::catalogue().size());
  std::printf("  %zu kernels\n", count);
}

}  // namespace
}  // namespace burn::testing
