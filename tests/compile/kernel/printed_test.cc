// The SPIR-V of the kernels that the samples of every op make, for devices that can do all, that compute on the CPU,
// and that lack what a device may lack, as the validator of Khronos reads it. BURN_EVERY_KERNEL: of all samples, else
// of some.
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "compile/codegen/dialects/spirv.h"
#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernel/legalise.h"
#include "compile/codegen/kernel/unroll.h"
#include "ir/catalogue.h"
#include "tests/compile/kernel/interpreted_device.h"
#include "tests/compile/kernel/spirv_validator.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

#ifdef BURN_EVERY_KERNEL
constexpr std::size_t kSamples = 1 << 20, kKernels = 1 << 20;
#else
constexpr std::size_t kSamples = 16, kKernels = 20;  // of an op, for each device
#endif

struct NamedFacts {
  const char* name;
  compile::DeviceFacts facts;
};

std::array<NamedFacts, 3> devices() {
  compile::DeviceFacts whole{.multiprocessors = 132, .shared_bytes = 1 << 17, .shared_bytes_per_block = 49152};
  compile::DeviceFacts cpu{.multiprocessors = 4, .shared_bytes = 32768, .subgroup_size = 8};
  cpu.has_limited_loops = cpu.has_slow_barriers = true;
  compile::DeviceFacts poor{.multiprocessors = 2, .shared_bytes = 16384, .shared_bytes_per_block = 16384};
  poor.max_threads = 256;
  poor.subgroup_size = 4;
  poor.has_f64 = poor.keeps_nan_f32 = poor.keeps_nan_f64 = false;
  poor.has_int64 = poor.has_narrow = false;
  return {{{"whole", whole}, {"CPU", cpu}, {"poor", poor}}};
}

// What a device without f64, int64, int8 and int16 has not, of the capabilities that a module declares: their names in
// SPIR-V.
std::string beyond_poor(const SpirvWords& words) {
  constexpr std::uint32_t kCapability = 2 << 16 | 17;
  static const std::map<std::uint32_t, std::string> kBeyond{{9, "Float16"},
                                                            {10, "Float64"},
                                                            {11, "Int64"},
                                                            {22, "Int16"},
                                                            {39, "Int8"},
                                                            {4433, "StorageBuffer16BitAccess"},
                                                            {4448, "StorageBuffer8BitAccess"}};
  std::string found;
  for (std::size_t w = 5; w + 1 < words.size() && words[w] == kCapability; w += 2) {
    if (const auto one = kBeyond.find(words[w + 1]); one != kBeyond.end()) found += one->second + " ";
  }
  return found;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& entry : ir::catalogue()) names.push_back(entry.name);
  return names;
}

class PrintedKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(PrintedKernels, AreValidSpirvForEveryDevice) {
  if (!has_spirv_val()) GTEST_SKIP() << "SPIRV-Tools were not there when this was built (Debian's package spirv-tools)";
  const auto all = samples(GetParam());
  const auto step = std::max<std::size_t>(all.size() / kSamples, 1);
  std::size_t count = 0;
  for (const auto& [name, facts] : devices()) {
    std::map<std::string, KernelPtr> kernels;
    for (std::size_t n = 0; n < all.size(); n += step) {
      const auto made = kernels_of(all[n].program, facts, n / step % 2 == 0);
      if (made.status().code() == StatusCode::unimplemented) continue;
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      for (const auto& kernel : *made) kernels.emplace(key(*kernel), kernel);
    }
    std::size_t printed = 0;
    for (const auto& [key, kernel] : kernels) {
      if (printed++ == kKernels) break;
      EXPECT_TRUE(check(*kernel).ok()) << check(*kernel).message() << "\n" << text(*kernel);
      EXPECT_LE(kernel->threads, facts.max_threads) << name << "\n" << text(*kernel);
      const auto legal = legalised(*kernel, facts);
      ASSERT_TRUE(legal.ok()) << legal.status().to_string() << name << "\n" << text(*kernel);
      EXPECT_TRUE(check(*legal).ok()) << check(*legal).message() << "\n" << text(*legal);
      const auto words = compile::print_spirv(facts.has_limited_loops ? unrolled(*legal) : *legal, facts);
      EXPECT_EQ(facts.has_int64 ? "" : beyond_poor(words), "") << name << "\n" << text(*kernel);
      EXPECT_EQ(validate(words), "") << name << "\n" << text(*kernel);
      ++count;
    }
  }
  RecordProperty("kernels", static_cast<int>(count));
  std::printf("  %zu kernels\n", count);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, PrintedKernels, ::testing::ValuesIn(op_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace burn::testing
