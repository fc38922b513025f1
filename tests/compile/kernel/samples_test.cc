// Every sample of every op that has kernels in the kernel language, run by the interpreter and compared with the
// reference.
#include "tests/ops/samples.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernels/lower.h"
#include "ir/catalogue.h"
#include "tests/compile/kernel/interpreted_device.h"

namespace burn::testing {
namespace {

// The facts of a GPU, or of a CPU that executes kernels as a GPU does.
compile::DeviceFacts facts_of(bool slow_barriers) {
  return {.multiprocessors = 4,
          .shared_bytes = 65536,
          .subgroup_size = 8,
          .has_limited_loops = slow_barriers,
          .has_slow_barriers = slow_barriers};
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& entry : ir::catalogue()) names.push_back(entry.name);
  return names;
}

class KernelSamples : public ::testing::TestWithParam<std::string> {
 protected:
  // Every `step`th sample of the op, on both kinds of device, with and without fusion, and in each order in turn.
  void check(std::size_t step) {
    check(step, [](std::size_t turn) { return facts_of(turn % 2 == 0); });
  }
  // The same on the devices that `facts` gives by turn.
  template <typename Facts>
  void check(std::size_t step, const Facts& facts) {
    const auto all = samples(GetParam());
    for (std::size_t n = 0; n < all.size(); n += step) {
      const auto& sample = all[n];
      SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
      const auto turn = n / step;
      const bool fusion = turn % 3 != 0;
      try {
        const auto run = run_interpreted(sample.program, sample.inputs, sample.bindings, facts(turn), fusion,
                                         static_cast<ThreadOrder>(turn % 3));
        if (run.status().code() == StatusCode::unimplemented) continue;  // of the whole op: a device's tests say which
        ASSERT_TRUE(run.ok()) << run.status().to_string();
        const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_EQ(first_difference(run->outputs[i], expected[i], sample.slack, sample.cancelled), "")
              << "output " << i;
      } catch (const std::runtime_error& undefined) {
        FAIL() << undefined.what();
      }
    }
  }
};

// Functions and conversions of 16-bit floats by Code::call.
TEST(KernelsOfADeviceWithFunctions, AreWhatTheReferenceSays) {
  auto facts = facts_of(false);
  facts.has_functions = true;
  std::size_t calls = 0;
  for (const auto* op :
       {"exp", "log", "tanh", "erf", "sin", "atan2", "pow", "fmod", "sigmoid", "rsqrt", "cast", "div"}) {
    const auto all = samples(op);
    const auto step = std::max<std::size_t>(all.size() / 6, 1);
    for (std::size_t n = 0; n < all.size(); n += step) {
      const auto& sample = all[n];
      SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
      const auto run =
          run_interpreted(sample.program, sample.inputs, sample.bindings, facts, true, ThreadOrder::forward);
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(first_difference(run->outputs[i], expected[i], sample.slack, sample.cancelled), "") << "output " << i;
      for (const auto& kernel : run->kernels) {
        EXPECT_TRUE(compile::kernel::check(*kernel).ok()) << compile::kernel::check(*kernel).message();
        calls += static_cast<std::size_t>(
            std::ranges::count(kernel->body, compile::kernel::Code::call, &compile::kernel::Instruction::code));
      }
    }
  }
  EXPECT_GT(calls, 50u);
}

TEST_P(KernelSamples, AreWhatTheReferenceSays) {
  constexpr std::size_t kSome = 12;
  check(std::max<std::size_t>(samples(GetParam()).size() / kSome, 1));
}

// Devices without whole numbers of 64 bits, without those of 8 and 16, and without both.
compile::DeviceFacts facts_without_types(std::size_t turn) {
  auto facts = facts_of(turn % 2 == 0);
  facts.has_int64 = turn % 3 == 1;
  facts.has_narrow = turn % 3 == 2;
  facts.has_f64 = false;
  return facts;
}

TEST_P(KernelSamples, AreWhatTheReferenceSaysWithoutSomeTypes) {
  constexpr std::size_t kSome = 7;
  check(std::max<std::size_t>(samples(GetParam()).size() / kSome, 1), facts_without_types);
}

// These two take a minute for all ops: run them (--gtest_also_run_disabled_tests) where kernels were changed.
TEST_P(KernelSamples, DISABLED_AllOfThemAreWhatTheReferenceSaysWithoutSomeTypes) { check(1, facts_without_types); }
TEST_P(KernelSamples, DISABLED_AllOfThemAreWhatTheReferenceSays) { check(1); }

INSTANTIATE_TEST_SUITE_P(Catalogue, KernelSamples, ::testing::ValuesIn(op_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace burn::testing
