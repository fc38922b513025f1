// What was in memory before is not seen: what programs give back does not depend on it. Blocks of the pool go from one
// session to the next without being cleared, and this is why they may: whatever of a buffer can be read was written by
// the run, or the upload, that made it.
#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#include "ir/catalogue.h"
#include "tests/backends/random_program.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

// A CPU device whose memory pool fills each block that it hands out with the byte `with`.
TestDevice filled(unsigned char with) {
  backends::cpu::Pool::Config config;
  config.fill = with;
  return TestDevice(std::shared_ptr<backends::Backend>(value_or_throw(backends::open_cpu_backend(config))));
}

using Outputs = std::vector<std::vector<std::byte>>;

Outputs outputs_of(TestDevice& device, const ir::Program& program, std::span<const reference::Tensor> inputs,
                   const reference::Bindings& bindings) {
  const auto executable = device.compile(program);
  EXPECT_TRUE(executable.ok()) << executable.status().to_string();
  if (!executable.ok()) return {};
  backends::RunArgs args{.scalars = bindings.scalars, .seed = bindings.seed, .random_offset = bindings.random_offset};
  for (const auto& input : inputs) args.inputs.push_back(*device.upload(input));
  const auto result = device.run(*executable, std::move(args));
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  if (!result.ok()) return {};
  Outputs outputs;
  for (const auto& buffer : result->outputs) {
    // All of the buffer, also behind the tensor's end: nothing may ever be read there, but it costs nothing to look.
    const auto bytes = device.download(buffer, buffer->size());
    outputs.emplace_back(bytes->span().begin(), bytes->span().end());
  }
  return outputs;
}

// Bits of NaN, and of what is summed in any order, are the same from run to run, too.
void expect_same(TestDevice& zeros, TestDevice& ones, const ir::Program& program,
                 std::span<const reference::Tensor> inputs, const reference::Bindings& bindings) {
  const auto one = outputs_of(zeros, program, inputs, bindings), other = outputs_of(ones, program, inputs, bindings);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t k = 0; k < one.size(); ++k) {
    const auto bytes = program.type_of(program.outputs[k]).num_bytes();
    ASSERT_GE(one[k].size(), bytes);
    ASSERT_GE(other[k].size(), bytes);
    ASSERT_TRUE(std::equal(one[k].begin(), one[k].begin() + static_cast<std::ptrdiff_t>(bytes), other[k].begin()))
        << "output " << k << " depends on what was in memory before";
  }
}

TEST(Uninitialised, NoOpShowsWhatWasInMemory) {
  auto zeros = filled(0x00), ones = filled(0xff);
  for (const auto& entry : ir::catalogue()) {
    for (const auto& sample : samples(entry.name)) {
      SCOPED_TRACE(std::string(entry.name) + " " + sample.name);
      expect_same(zeros, ones, sample.program, sample.inputs, sample.bindings);
    }
  }
}

TEST(Uninitialised, NoProgramShowsWhatWasInMemory) {
  auto zeros = filled(0x00), ones = filled(0xff);
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto [program, inputs] = random_program(seed);
    expect_same(zeros, ones, program, inputs, {});
  }
}

}  // namespace
}  // namespace burn::testing
