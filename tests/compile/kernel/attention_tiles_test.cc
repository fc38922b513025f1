// Attention by tiles of matrix units, run by the interpreter: each sample that has such kernels, beside the reference.
#include <gtest/gtest.h>

#include "ir/op.h"
#include "tests/compile/kernel/interpreted_device.h"
#include "tests/compile/kernel/spirv_validator.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

compile::DeviceFacts gpu(bool has_exp2) {
  return {.multiprocessors = 4,
          .shared_bytes = 65536,
          .shared_bytes_per_block = 49152,
          .subgroup_size = 32,
          .has_exp2 = has_exp2,
          .has_f16_tiles = true,
          .has_bf16_tiles = true};
}

void check(const Sample& sample, ThreadOrder order, std::size_t most_kernels) {
  SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
  const auto facts = gpu(order == ThreadOrder::shuffled);
  try {
    const auto run = run_interpreted(sample.program, sample.inputs, sample.bindings, facts, true, order);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_LE(run->kernels.size(), most_kernels) << "it is made of other ops";
    const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(first_difference(run->outputs[i], expected[i], sample.slack, sample.cancelled), "") << "output " << i;
    if (!has_spirv_val()) return;
    for (const auto& kernel : run->kernels) EXPECT_EQ(validate(*kernel, facts), "");
  } catch (const std::runtime_error& undefined) {
    FAIL() << undefined.what();
  }
}

void check_all(std::string_view op, std::size_t most_kernels) {
  std::size_t turn = 0, found = 0;
  for (const auto& sample : samples(op)) {
    const bool is_wide = sample.name.find("very wide") != std::string::npos;
    if (sample.name.find("fused") == std::string::npos || is_wide) continue;
    const auto now = turn++;
    if (now / 2 % 2 != now % 2) continue;  // f16 and bf16 in turn: the interpreter takes a second for each
    check(sample, static_cast<ThreadOrder>(now % 3), most_kernels);
    ++found;
  }
  EXPECT_GT(found, 9U);
}

// Operands whose rows are not whole packs are copied first.
constexpr std::size_t kCopies = 3, kForward = 1, kBackward = 3;

TEST(AttentionTiles, AreWhatTheReferenceSays) { check_all("attention", kForward + kCopies); }
TEST(AttentionTiles, GiveTheGradientsThatTheReferenceGives) {
  check_all("attention_grad", kForward + kBackward + kCopies + 1);
}

}  // namespace
}  // namespace burn::testing
