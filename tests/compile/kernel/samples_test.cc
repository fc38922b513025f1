// Every sample of every op that has kernels in the kernel language, run by the interpreter and compared with the
// reference; and the SPIR-V of these kernels.
#include "tests/ops/samples.h"

#include <map>

#include <gtest/gtest.h>

#include "compile/codegen/kernels/lower.h"
#include "ir/catalogue.h"
#include "tests/compile/kernel/interpreted_device.h"
#include "tests/compile/kernel/spirv_validator.h"

namespace burn::testing {
namespace {

// A GPU, and a CPU that plays one.
compile::DeviceFacts facts_of(bool slow_barriers) {
  return {.multiprocessors = 4, .shared_bytes = 65536, .has_slow_barriers = slow_barriers};
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& entry : ir::catalogue()) names.push_back(entry.name);
  return names;
}

class KernelSamples : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelSamples, AreWhatTheReferenceSays) {
  std::map<std::string, std::shared_ptr<const compile::kernel::Kernel>> kernels;
  int number = 0, refused = 0;
  for (const auto& sample : samples(GetParam())) {
    SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
    const bool slow_barriers = number % 2 == 0, fusion = number % 3 != 0;
    const auto order = static_cast<ThreadOrder>(number++ % 3);
    const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
    try {
      const auto run =
          run_interpreted(sample.program, sample.inputs, sample.bindings, facts_of(slow_barriers), fusion, order);
      if (run.status().code() == StatusCode::unimplemented) {
        ++refused;
        continue;
      }
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      for (const auto& kernel : run->kernels) kernels.emplace(key(*kernel), kernel);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(first_difference(run->outputs[i], expected[i], sample.slack, sample.cancelled), "") << "output " << i;
    } catch (const std::runtime_error& undefined) {
      FAIL() << undefined.what();
    }
  }
  std::printf("  %d samples, %d of them refused, %zu kernels\n", number, refused, kernels.size());
  if (!has_spirv_val()) return;
  std::size_t checked = 0;
  for (const auto& [key, kernel] : kernels) {
    if (++checked > 12) break;  // a process for each
    EXPECT_EQ(validate(*kernel, facts_of(false)), "") << text(*kernel);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, KernelSamples, ::testing::ValuesIn(op_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace burn::testing
