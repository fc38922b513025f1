// Every op of the catalogue, every sample of it, on every kind of device that computes, against the reference.
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/rewrite/decompose.h"
#include "ir/catalogue.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

// One device of each kind that computes, for all tests.
TestDevice& device_of(const std::string& kind) {
  static std::map<std::string, TestDevice> devices;
  return devices.try_emplace(kind, kind).first->second;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& kind : backends::backend_kinds()) {
    if (kind.computes) names.push_back(kind.name);
  }
  return names;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& entry : ir::catalogue()) names.push_back(entry.name);
  return names;
}

class EveryOp : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  const std::string& op() const { return std::get<1>(GetParam()); }

  void SetUp() override {
    samples_ = some(samples(op()));
    ASSERT_FALSE(samples_.empty()) << "tests/ops has no sample for it";
  }
  // BURN_TEST_SAMPLES: at most so many, from all parts of the list, for slow devices.
  static std::vector<Sample> some(std::vector<Sample> all) {
    const char* most = std::getenv("BURN_TEST_SAMPLES");  // NOLINT(concurrency-mt-unsafe): no thread writes it
    const auto count = most ? std::strtoull(most, nullptr, 10) : 0;
    if (count == 0 || all.size() <= count) return all;
    std::vector<Sample> kept;
    for (std::size_t k = 0; k < count; ++k) kept.push_back(std::move(all[k * all.size() / count]));
    return kept;
  }

  // Whether a sample is one of f64, which the device has not and says so by name: all others run on every device.
  static bool is_refused_f64(const Sample& sample, const Status& status) {
    const auto is_f64 = [](const auto& one) { return one.type.dtype == ir::DType::f64; };
    return status.code() == StatusCode::unimplemented &&
           status.message().find("has no f64") != std::string_view::npos &&
           (std::ranges::any_of(sample.program.inputs, is_f64) || std::ranges::any_of(sample.program.values, is_f64));
  }

  TestDevice& device_ = device_of(std::get<0>(GetParam()));
  std::vector<Sample> samples_;
};

TEST_P(EveryOp, AppearsInItsSamples) {
  for (const auto& sample : samples_) {
    const auto is_it = [&](const ir::Node& node) { return ir::name(node.op) == op(); };
    EXPECT_TRUE(std::ranges::any_of(sample.program.nodes, is_it)) << sample.name;
  }
}

// Inputs that the test holds as well: results are right and the inputs stay as they were.
TEST_P(EveryOp, MatchesTheReference) {
  for (const auto& sample : samples_) {
    SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
    const auto executable = device_.compile(sample.program);
    if (is_refused_f64(sample, executable.status())) continue;
    ASSERT_TRUE(executable.ok()) << executable.status().to_string();
    std::vector<backends::BufferPtr> inputs;
    for (const auto& input : sample.inputs) inputs.push_back(*device_.upload(input));
    const auto buffers = device_.run(*executable, {.inputs = inputs,
                                                   .scalars = sample.bindings.scalars,
                                                   .seed = sample.bindings.seed,
                                                   .random_offset = sample.bindings.random_offset});
    ASSERT_TRUE(buffers.ok()) << buffers.status().to_string();
    for (const auto& failure : buffers->failures) ASSERT_EQ(failure, nullptr) << failure->to_string();

    const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
    ASSERT_EQ(buffers->outputs.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto actual = device_.download(buffers->outputs[i], expected[i].type);
      ASSERT_TRUE(actual.ok()) << actual.status().to_string();
      ASSERT_EQ(first_difference(*actual, expected[i], sample.slack, sample.cancelled), "") << "output " << i;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto after = device_.download(inputs[i], sample.inputs[i].type);
      ASSERT_EQ(reference::to_bytes(*after), reference::to_bytes(sample.inputs[i]))
          << "input " << i << " was written to";
    }
  }
}

// Inputs that only the run holds, so that they may be written over: the same bits come out, unless the device adds what
// falls on one index in any order.
TEST_P(EveryOp, GivesTheSameWhenItMayOverwriteItsInputs) {
  if (op() == "scatter" && std::get<0>(GetParam()) == "cuda") GTEST_SKIP() << "sums in any order";
  for (const auto& sample : samples_) {
    SCOPED_TRACE(sample.name + "\n" + to_string(sample.program));
    const auto executable = device_.compile(sample.program);
    if (is_refused_f64(sample, executable.status())) continue;
    ASSERT_TRUE(executable.ok()) << executable.status().to_string();
    std::vector<backends::BufferPtr> inputs;
    for (const auto& input : sample.inputs) inputs.push_back(*device_.upload(input));
    const auto run = [&](std::vector<backends::BufferPtr> with) {
      return device_.run(*executable, {.inputs = std::move(with),
                                       .scalars = sample.bindings.scalars,
                                       .seed = sample.bindings.seed,
                                       .random_offset = sample.bindings.random_offset});
    };
    const auto shared = run(inputs), owned = run(std::move(inputs));
    ASSERT_TRUE(shared.ok() && owned.ok());
    ASSERT_TRUE(shared->failures.empty() && owned->failures.empty());
    for (std::size_t i = 0; i < shared->outputs.size(); ++i) {
      const auto type = sample.program.type_of(sample.program.outputs[i]);
      const auto a = device_.download(shared->outputs[i], type.num_bytes()),
                 b = device_.download(owned->outputs[i], type.num_bytes());
      ASSERT_TRUE(a.ok() && b.ok()) << "output " << i;
      ASSERT_TRUE(std::ranges::equal(a->span(), b->span())) << "output " << i;
    }
  }
}

TEST_P(EveryOp, IsSupportedOrMadeOfWhatIs) {
  for (const auto& sample : samples_) {
    const auto program = compile::decompose(std::make_shared<const ir::Program>(sample.program),
                                            backends::supports_of(device_.backend()));
    if (is_refused_f64(sample, program.status())) continue;
    ASSERT_TRUE(program.ok()) << sample.name << ": " << program.status().to_string();
    for (const auto& node : (*program)->nodes) {
      std::vector<const ir::TensorType*> types;
      for (const auto ref : (*program)->operands_of(node)) types.push_back(&(*program)->type_of(ref));
      ASSERT_TRUE(device_.backend().supports(node.op, types).ok()) << sample.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryOp,
                         ::testing::Combine(::testing::ValuesIn(kinds()), ::testing::ValuesIn(op_names())),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace burn::testing
