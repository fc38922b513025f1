// The kernels that are generated for the catalogue's samples, compiled by NVRTC: every fourth one, and every one as a
// slow test. Compiled only: that needs no GPU.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cuda/device/libraries.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/lower/target.h"
#include "compile/plan/recompute.h"
#include "compile/rewrite/decompose.h"
#include "compile/rewrite/simplify.h"
#include "ir/catalogue.h"
#include "tests/backends/column_sums.h"
#include "tests/backends/cuda/lowered.h"
#include "tests/ops/samples.h"
#include "tests/support/sanitized.h"

namespace burn::testing {
namespace {

#ifdef BURN_EVERY_KERNEL
constexpr bool kEvery = true;
#else
constexpr bool kEvery = false;
#endif

// Of products and attention; or made of factors before it is lowered.
bool asks_others(const ir::Program& program) {
  return std::ranges::any_of(program.nodes, [](const ir::Node& node) {
    const auto name = ir::name(node.op);
    return name == "matmul" || name == "det" || name.starts_with("attention");
  });
}

// The text of each kernel, with the sample that wants it.
std::map<std::string, std::string> all_kernels(cuda::Device& device) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : ir::catalogue()) {
    for (const auto& sample : samples(entry.name)) {
      for (const bool fusion : {true, false}) {
        const auto lowered = lower(device, sample.program, fusion);
        if (!lowered.ok()) {
          EXPECT_TRUE(asks_others(sample.program))
              << entry.name << " " << sample.name << ": " << lowered.status().to_string();
          continue;
        }
        for (const auto& source : lowered->sources)
          texts.emplace(source.text, fmt::format("{} {}", entry.name, sample.name));
      }
    }
  }
  return texts;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

// Many in one text, as most of the time goes into reading headers: each in a namespace of its own.
std::string together(std::span<const std::string> texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto text = replaced(texts[i], "burn_kernel", fmt::format("burn_kernel_{}", i));
    constexpr std::string_view kOpening = "namespace burn::ir::prelude {";
    if (text.find(kOpening) != std::string::npos)
      text = replaced(text, kOpening, fmt::format("{} namespace k{} {{", kOpening, i)) + "}\n";
    all += text;
  }
  return all;
}

class CudaKernels : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, CudaKernels, ::testing::Values("sm_80", "sm_90"),
                         [](const auto& info) { return info.param; });

TEST_P(CudaKernels, OfEveryOpCompile) {
  constexpr std::size_t kTogether = 48;
  const auto device = cuda::Device::for_compiling(GetParam());
  const auto kernels = all_kernels(*device);
  ASSERT_GT(kernels.size(), 1000u);
  // Of each kind there are many, and the older architecture differs in a few conversions only. Sanitizers see nothing
  // of the compiler but the blocks that it allocates, and slow those down.
  const std::size_t stride = kEvery ? 1 : GetParam() == std::string("sm_90") ? (test::kSanitized ? 32 : 4) : 16;
  std::vector<std::string> texts;
  std::size_t number = 0;
  for (const auto& [text, sample] : kernels) {
    if (number++ % stride == 0) texts.push_back(text);
  }

  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::string complaints;
  const auto work = [&] {
    for (auto batch = next++; batch * kTogether < texts.size(); batch = next++) {
      const auto first = batch * kTogether;
      const auto part = std::span(texts).subspan(first, std::min(kTogether, texts.size() - first));
      const auto code = cuda::compile_kernel(together(part), GetParam());
      const std::lock_guard lock(mutex);
      if (!code.ok() && complaints.empty())
        complaints = kernels.at(part[0]) + " and others: " + code.status().message();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::min(std::thread::hardware_concurrency(), 16u); ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(complaints.substr(0, 4000), "");
}

// Their samples in the catalogue multiply what comes out, which wants a library. Small ones are for blocks of our own,
// large ones for a library, alone or all in one call.
TEST(CudaLaunches, OfFactorisationsCompile) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const ir::Op ops[] = {ir::Cholesky{}, ir::Lu{},   ir::Qr{},    ir::Qr{false},
                        ir::Svd{},      ir::Eigh{}, ir::Solve{}, ir::SolveTriangular{}};
  std::set<std::string> texts;
  for (const auto& op : ops) {
    for (const auto& shape : {ir::Shape{2, 5, 5}, ir::Shape{1, 300, 300}, ir::Shape{20, 128, 128}}) {
      for (const auto dtype : {ir::DType::f32, ir::DType::f64}) {
        ir::ProgramBuilder builder;
        const auto x = builder.add_input({dtype, shape});
        const bool is_system = ir::name(op).starts_with("solve");
        const ir::Ref operands[] = {x, x};
        const auto y = *builder.add(op, std::span(operands, is_system ? 2 : 1));
        std::vector<ir::Ref> outputs;
        outputs.reserve(static_cast<std::size_t>(ir::result_count(op)));
        for (int k = 0; k < ir::result_count(op); ++k) outputs.push_back(y.result(k));
        const auto lowered = lower(*device, builder.finish(outputs), true);
        ASSERT_TRUE(lowered.ok()) << ir::name(op) << ": " << lowered.status().to_string();
        const bool are_many = ir::name(op) == "cholesky" || ir::name(op) == "lu" || ir::name(op) == "solve";
        const bool is_own = shape[1] == 5 || (shape[1] == 128 && !are_many);
        EXPECT_EQ(cuda::can_be_captured(lowered->commands), is_own) << ir::name(op) << " " << shape[1];
        for (const auto& source : lowered->sources) texts.insert(source.text);
      }
    }
  }
  const std::vector<std::string> all(texts.begin(), texts.end());
  const auto code = cuda::compile_kernel(together(all), "sm_90");
  EXPECT_TRUE(code.ok()) << code.status().to_string();
}

// Sums in i64 of what is narrower: alone, and in the rows of a group.
TEST(CudaLaunches, OfSumsOfNarrowIntegersCompile) {
  using enum ir::DType;
  const auto device = cuda::Device::for_compiling("sm_90");
  std::set<std::string> texts;
  for (const auto dtype : {bool_, u8, i8, u16, i16, u32, i32}) {
    ir::ProgramBuilder builder;
    const auto add = [&](const ir::Op& op, ir::Ref x) { return *builder.add(op, std::span(&x, 1)); };
    const auto wide = add(ir::Cast{i64}, builder.add_input({dtype, {64, 3000}}));
    const auto sum = [&](const ir::Dims& axes) { return add(ir::Reduce{ir::ReduceFn::sum, axes}, wide); };
    const compile::PlanOptions options;
    const auto program = prepare(
        builder.finish({sum({0, 1}), sum({0}), sum({1}), add(ir::Reduce{ir::ReduceFn::prod, {1}}, wide)}), options);
    const auto lowered = cuda::lower_program(*device, program, compile::make_plan(program, options));
    ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
    for (const auto& source : lowered->sources) texts.insert(source.text);
    for (const auto bytes : lowered->block_bytes) EXPECT_LT(bytes, 64U * 3000 * 8) << "a copy in i64";
  }
  const std::vector<std::string> all(texts.begin(), texts.end());
  const auto code = cuda::compile_kernel(together(all), "sm_90");
  EXPECT_TRUE(code.ok()) << code.status().to_string();
}

// Samples are small; of a large tensor a thread has two vectors.
TEST(CudaLaunches, OfLargeGroupsCompile) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const ir::Shape shape{(std::int64_t{1} << 26) + 3};
  ir::ProgramBuilder builder;
  const auto add = [&](ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) {
    return *builder.add(ir::Pointwise{fn}, std::span(operands.begin(), operands.size()));
  };
  const auto x = builder.add_input({ir::DType::f32, shape}), y = builder.add_input({ir::DType::bf16, shape});
  const ir::Ref narrow[] = {y};
  const auto wide = *builder.add(ir::Cast{ir::DType::f32}, narrow);
  const auto program = builder.finish({add(ir::PointwiseFn::div, {add(ir::PointwiseFn::erf, {x}), wide})});
  const auto lowered = lower(*device, program, true);
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  ASSERT_EQ(lowered->commands.size(), 1u);
  const std::int64_t vectors = (shape[0] + 3) / 4;
  EXPECT_EQ(std::get<cuda::Launch>(lowered->commands[0].what).grid.blocks, (vectors + 511) / 512);
  const auto code = cuda::compile_kernel(lowered->sources[0].text, "sm_90");
  EXPECT_TRUE(code.ok()) << code.status().to_string();
}

// By blocks that share the depth, where there are clusters.
TEST(CudaLaunches, OfSmallProductsCompile) {
  const auto device = cuda::Device::for_compiling("sm_90");
  std::set<std::string> texts;
  for (const std::int64_t columns : {10, 512}) {
    for (int way = 0; way < 4; ++way) {
      ir::ProgramBuilder builder;
      const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool is_across) {
        if (!is_across) return builder.add_input({ir::DType::f32, {rows, columns}});
        const ir::Ref x[] = {builder.add_input({ir::DType::f32, {columns, rows}})};
        return *builder.add(ir::Permute{{1, 0}}, x);
      };
      const ir::Ref operands[] = {matrix(64, 784, way & 1), matrix(784, columns, way & 2)};
      const auto lowered = lower(*device, builder.finish({*builder.add(ir::MatMul{}, operands)}), true);
      ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
      ASSERT_EQ(lowered->commands.size(), 1u);
      const std::int64_t tiles = 2 * ((columns + 31) / 32);
      EXPECT_EQ(std::get<cuda::Launch>(lowered->commands[0].what).grid.blocks, 8 * tiles);
      texts.insert(lowered->sources[0].text);
    }
  }
  EXPECT_EQ(texts.size(), 6u);  // of b by rows two, as ten columns are no vectors
  const std::vector<std::string> all(texts.begin(), texts.end());
  const auto code = cuda::compile_kernel(together(all), "sm_90");
  EXPECT_TRUE(code.ok()) << code.status().to_string();
}

// Where a launch's text, size, parameters and addresses are the same, so is what it does.
std::string text_of(const cuda::Lowered& lowered) {
  std::string text;
  for (const auto& command : lowered.commands) {
    text += fmt::format("step {}", command.step);
    if (const auto* launch = std::get_if<cuda::Launch>(&command.what)) {
      text += fmt::format(" {}x{} threads {}\n{}", launch->grid.blocks, launch->grid.blocks_y, launch->grid.threads,
                          lowered.sources[launch->source].text);
      for (const auto& [at, address] : launch->addresses)
        text += fmt::format("{}: {}.{}+{}\n", at, static_cast<int>(address.base), address.index, address.offset);
      for (const auto byte : launch->parameters) text += fmt::format("{:02x}", static_cast<int>(byte));
    }
    text += "\n";
  }
  for (const auto& output : lowered.outputs) text += fmt::format("{} {}\n", output.shares_input, output.reuses_input);
  return text;
}

// The second time it is taken from the device's memory of what was written.
TEST(CudaLaunches, OfAGroupThatWasWrittenBeforeAreTheSame) {
  const auto again = cuda::Device::for_compiling("sm_90");
  std::size_t compared = 0;
  for (const auto& entry : ir::catalogue()) {
    for (const auto& sample : samples(entry.name)) {
      const auto fresh = cuda::Device::for_compiling("sm_90");
      const auto first = lower(*fresh, sample.program, true);
      if (!first.ok()) continue;
      ASSERT_TRUE(lower(*again, sample.program, true).ok());
      const auto second = lower(*again, sample.program, true);
      ASSERT_TRUE(second.ok());
      EXPECT_EQ(text_of(*first), text_of(*second)) << entry.name << " " << sample.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100u);
}

// Two layers of one kind, and one that reads the same tensor twice: the same kernel, each with its own addresses.
TEST(CudaLaunches, OfEqualGroupsHaveTheirOwnAddresses) {
  const auto program = [](bool first, bool second) {
    ir::ProgramBuilder builder;
    std::vector<ir::Ref> inputs, outputs;
    for (int k = 0; k < 3; ++k) inputs.push_back(builder.add_input({ir::DType::f32, {8, 100}}));
    const auto layer = [&](ir::Ref x, ir::Ref y) {
      const ir::Ref pair[] = {x, y};
      const auto made = builder.add(ir::Pointwise{ir::PointwiseFn::sub}, pair)->result(0);
      outputs.push_back(builder.add(ir::Reduce{ir::ReduceFn::sum, {1}}, {&made, 1})->result(0));
    };
    if (first) layer(inputs[0], inputs[1]);
    if (second) layer(inputs[2], inputs[2]);
    return builder.finish(outputs);
  };
  const auto used = cuda::Device::for_compiling("sm_90");
  ASSERT_TRUE(lower(*used, program(true, false), true).ok());
  for (const auto& wanted : {program(true, true), program(false, true)}) {
    const auto first = lower(*cuda::Device::for_compiling("sm_90"), wanted, true), second = lower(*used, wanted, true);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(text_of(*first), text_of(*second));
  }
}

// What is computed alike for several tensors, as an optimizer does, is one launch; one of them reads what another one
// writes over: two.
TEST(CudaLaunches, OfOneKindAreMergedWhereNothingOrdersThem) {
  const auto device = cuda::Device::for_compiling("sm_90");
  ir::ProgramBuilder builder;
  std::vector<ir::Ref> outputs;
  const auto update = [&](ir::Ref parameter, ir::Ref gradient) {
    const ir::Ref pair[] = {parameter, gradient};
    outputs.push_back(builder.add(ir::Pointwise{ir::PointwiseFn::sub}, pair)->result(0));
  };
  for (const std::int64_t size : {1000, 10, 64}) {
    const ir::TensorType type{ir::DType::f32, {size}};
    update(builder.add_input(type), builder.add_input(type));
  }
  const auto lowered = lower(*device, builder.finish(outputs), true);
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  EXPECT_EQ(lowered->commands.size(), 1u);
  ASSERT_EQ(lowered->sources.size(), 1u);
  EXPECT_TRUE(cuda::compile_kernel(lowered->sources[0].text, "sm_90").ok());
}

// Rows of a warp, of a block, and of several sizes of vectors; the kernel, and the sum of what its blocks leave.
TEST(CudaLaunches, OfGroupsWithSumsOfColumnsAreOneAndTheirSums) {
  const auto device = cuda::Device::for_compiling("sm_90");
  const ir::Program programs[] = {norm_program({1024, 96}, ir::DType::bf16), norm_program({1024, 97}, ir::DType::f32),
                                  norm_program({2, 1024, 768}, ir::DType::bf16),
                                  norm_program({600, 8192}, ir::DType::f64), activation_program(1024, 3072)};
  for (const auto& program : programs) {
    const auto lowered = lower(*device, program, true, 512);
    ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
    EXPECT_EQ(lowered->commands.size(), 2u);  // the group, and all that its blocks have left to be added up
    for (const auto& source : lowered->sources) {
      const auto code = cuda::compile_kernel(source.text, "sm_90");
      EXPECT_TRUE(code.ok()) << code.status().to_string();
    }
  }
}

TEST(CudaLaunches, AreNotMergedWhereOneWritesOverWhatAnotherOneReads) {
  const auto device = cuda::Device::for_compiling("sm_90");
  ir::ProgramBuilder builder;
  const ir::TensorType type{ir::DType::f32, {100}};
  const auto x = builder.add_input(type), y = builder.add_input(type);
  const ir::Ref first[] = {x, y}, second[] = {y, x};
  const auto a = *builder.add(ir::Pointwise{ir::PointwiseFn::sub}, first);
  const auto b = *builder.add(ir::Pointwise{ir::PointwiseFn::sub}, second);
  builder.donate(y.index());  // the second one may be written over it
  const auto program = builder.finish({a, b});
  const auto lowered = lower(*device, program, false);
  ASSERT_TRUE(lowered.ok());
  ASSERT_EQ(lowered->outputs[1].reuses_input, y.index());
  EXPECT_EQ(lowered->commands.size(), 2u);
}

}  // namespace
}  // namespace burn::testing
