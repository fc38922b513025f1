// Attention on devices that have kernels of their own for it, beside what the catalogue says: that they are used, that
// they give the same bits each time, and that they are right at the size of a model.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "tests/backends/relative_error.h"
#include "tests/backends/test_device.h"
#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using backends::BufferPtr;
using ir::DType;
using ::testing::HasSubstr;

// The kinds of backends with such kernels.
std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& kind : backends::backend_kinds()) {
    if (kind.name == "cuda") names.push_back(kind.name);
  }
  return names;
}

std::vector<Sample> fused_samples(std::string_view op) {
  auto all = attention_samples(op);
  std::erase_if(all, [](const Sample& sample) { return sample.name.find("fused") == std::string::npos; });
  return all;
}

class FusedAttention : public ::testing::TestWithParam<std::string> {
 protected:
  Status supports(const ir::Op& op, std::initializer_list<ir::TensorType> types) {
    std::vector<const ir::TensorType*> operands;
    for (const auto& type : types) operands.push_back(&type);
    return device_.backend().supports(op, operands);
  }
  void SetUp() override {
    const ir::TensorType x{DType::bf16, {2, 2, 128, 64}};
    const auto status = supports(ir::Attention{}, {x, x, x});
    if (status.message().find("is not there") != std::string::npos) GTEST_SKIP() << status.message();
  }

  std::vector<BufferPtr> upload(std::span<const reference::Tensor> inputs) {
    std::vector<BufferPtr> buffers;
    for (const auto& input : inputs) buffers.push_back(*device_.upload(input));
    return buffers;
  }

  TestDevice device_{GetParam()};
};

TEST_P(FusedAttention, IsNotMadeOfOtherOps) {
  for (const auto* op : {"attention", "attention_grad"}) {
    for (const auto& sample : fused_samples(op)) {
      // Not every architecture and version of the library has these.
      if (sample.name.find("wide") != std::string::npos || sample.name.find("transposed") != std::string::npos)
        continue;
      for (const auto& node : sample.program.nodes) {
        std::vector<const ir::TensorType*> operands;
        for (const auto ref : sample.program.operands_of(node)) operands.push_back(&sample.program.type_of(ref));
        const auto status = device_.backend().supports(node.op, operands);
        const bool is_too_old = status.message().find("is the first for these lengths") != std::string::npos;
        EXPECT_TRUE(status.ok() || (is_too_old && sample.name.find("whole") == std::string::npos))
            << sample.name << ": " << status.message();
      }
    }
  }
}

TEST_P(FusedAttention, IsMadeOfOtherOpsElsewhere) {
  const auto type = [](DType dtype, std::int64_t rows, std::int64_t columns) {
    return ir::TensorType{dtype, {2, 2, rows, columns}};
  };
  const auto bf16 = type(DType::bf16, 128, 64), f32 = type(DType::f32, 128, 64), one = type(DType::bf16, 1, 64),
             odd = type(DType::bf16, 128, 20);
  for (const auto& status :
       {supports(ir::Attention{}, {f32, f32, f32}), supports(ir::Attention{}, {odd, odd, odd}),
        supports(ir::Attention{}, {one, bf16, bf16}), supports(ir::Attention{1, true}, {bf16, one, one}),
        supports(ir::Attention{}, {bf16, bf16, bf16, type(DType::bool_, 128, 128)}),
        supports(ir::Attention{}, {bf16, bf16, bf16, type(DType::bf16, 128, 128)})}) {
    EXPECT_EQ(status.code(), StatusCode::unimplemented);
    EXPECT_THAT(status.message(), HasSubstr("attention"));
  }
}

// Launched one by one at first, then as a graph.
TEST_P(FusedAttention, GivesTheSameBitsEachTime) {
  if (is_off(Setting::deterministic)) GTEST_SKIP() << "sums in any order";
  for (const auto* op : {"attention", "attention_grad"}) {
    for (const auto& sample : fused_samples(op)) {
      SCOPED_TRACE(sample.name);
      const auto executable = device_.compile(sample.program);
      ASSERT_TRUE(executable.ok()) << executable.status().to_string();
      const auto inputs = upload(sample.inputs);
      std::vector<std::vector<std::byte>> first;
      for (int times = 0; times < 5; ++times) {
        backends::RunArgs args;
        args.inputs = inputs;
        const auto result = device_.run(*executable, std::move(args));
        ASSERT_TRUE(result.ok()) << result.status().to_string();
        for (std::size_t k = 0; k < result->outputs.size(); ++k) {
          const auto bytes =
              device_.download(result->outputs[k], sample.program.type_of(sample.program.outputs[k]).num_bytes());
          ASSERT_TRUE(bytes.ok()) << bytes.status().to_string();
          if (times == 0) first.emplace_back(bytes->span().begin(), bytes->span().end());
          ASSERT_TRUE(std::ranges::equal(bytes->span(), first[k])) << "output " << k << ", run " << times;
        }
      }
    }
  }
}

// --- the size of a model ---------------------------------------------------------------------------------------------

// y, the statistics and the three gradients; computed in `computed`, from inputs of `dtype`.
Sample model_sample(DType dtype, DType computed, std::int64_t n, std::int64_t m, std::int64_t d) {
  SampleBuilder sample(std::string(ir::name(dtype)) + " model");  // the same name: the same numbers
  const auto heads = [&](std::int64_t rows) {
    const auto x = sample.input({dtype, {2, rows, 12 * d}});
    const auto split = sample.add(ir::Reshape{{2, rows, 12, d}}, {x});
    const auto view = sample.add(ir::Permute{{0, 2, 1, 3}}, {split});
    return dtype == computed ? view : sample.add(ir::Cast{computed}, {view});
  };
  const auto q = heads(n), k = heads(m), v = heads(m), g = heads(n);
  const double scale = 0.3 / std::sqrt(static_cast<double>(d));  // scores of about 1, as a model has them
  const auto y = sample.add(ir::Attention{scale, true}, {q, k, v});
  const auto grads = sample.add(ir::AttentionGrad{scale, true}, {q, k, v, y, y.result(1), g});
  return sample.finish({y, y.result(1), grads, grads.result(1), grads.result(2)});
}

TEST_P(FusedAttention, IsRightAtTheSizeOfAModel) {
  struct Size {
    std::int64_t n, m, d;
  };
  constexpr const char* kNames[] = {"y", "statistics", "gradient of q", "gradient of k", "gradient of v"};
  for (const auto dtype : {DType::bf16, DType::f16}) {
    for (const auto& [n, m, d] : {Size{1024, 1024, 64}, Size{512, 777, 64}, Size{1000, 1000, 128},
                                  Size{4096, 4096, 64}}) {  // the last one's gradients in parts
      const auto fused = model_sample(dtype, dtype, n, m, d), plain = model_sample(dtype, DType::f32, n, m, d);
      const auto actual = run_program(device_, fused.program, fused.inputs),
                 expected = run_program(device_, plain.program, plain.inputs);
      ASSERT_TRUE(actual.ok()) << actual.status().to_string();
      ASSERT_TRUE(expected.ok()) << expected.status().to_string();
      const double limit = dtype == DType::bf16 ? 8e-3 : 1e-3;
      for (std::size_t k = 0; k < actual->size(); ++k) {
        const auto error = relative_error((*actual)[k], (*expected)[k]);
        EXPECT_LT(error, k == 1 ? 1e-5 : limit)
            << ir::name(dtype) << " " << n << "x" << m << "x" << d << ": " << kNames[k];
      }
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FusedAttention);
INSTANTIATE_TEST_SUITE_P(Backends, FusedAttention, ::testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace burn::testing
