// Devices without whole numbers of 64, 16 or 8 bits give the numbers of those that have them: any driver whose loader
// says that it has none, and SwiftShader, which has none.
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/vulkan/vulkan_test.h"
#include "tests/ops/samples.h"

namespace burn::backends::vulkan {
namespace {

using ir::DType;
using ir::PointwiseFn;
using reference::Tensor;

class Builder {
 public:
  template <typename... Refs>
  ir::Ref add(const ir::Op& op, Refs... operands) {
    return value_or_throw(builder_.add(op, std::vector<ir::Ref>{operands...}, {"model.cc", 1}));
  }
  ir::Ref input(DType dtype, const ir::Shape& shape) { return builder_.add_input({dtype, shape}); }
  ir::Program finish(std::vector<ir::Ref> outputs) { return builder_.finish(std::move(outputs)); }

 private:
  ir::ProgramBuilder builder_;
};

constexpr std::int64_t kRows = 7, kColumns = 9;  // an odd number of elements: words are shared at the ends of rows

// Of x and y, both of that type: quotients, remainders and products, transposed and summed, as every dtype.
ir::Program program_of(DType dtype) {
  Builder b;
  const auto x = b.input(dtype, {kRows, kColumns}), y = b.input(dtype, {kRows, kColumns});
  const auto product = b.add(ir::Pointwise{PointwiseFn::mul}, x, y);
  const auto quotient = b.add(ir::Pointwise{PointwiseFn::div}, product, y);
  const auto rest = b.add(ir::Pointwise{PointwiseFn::remainder}, product, b.add(ir::Pointwise{PointwiseFn::neg}, y));
  std::vector<ir::Ref> outputs{b.add(ir::Permute{{1, 0}}, product),
                               quotient,
                               rest,
                               b.add(ir::Reduce{ir::ReduceFn::sum, {1}}, x),
                               b.add(ir::Scan{ir::ReduceFn::sum, 0}, x),
                               b.add(ir::Slice{{1, 1}, {kRows - 2, kColumns - 2}, {1, 1}}, y),
                               b.add(ir::ArgReduce{ir::ArgFn::max, 1}, y),
                               b.add(ir::Pointwise{PointwiseFn::lower}, x, y)};
  for (const auto other :
       {DType::i64, DType::u64, DType::i32, DType::i16, DType::u8, DType::f32, DType::f16, DType::bf16})
    if (other != dtype) outputs.push_back(b.add(ir::Cast{other}, product));
  return b.finish(std::move(outputs));
}

Tensor numbers_of(DType dtype, std::int64_t first) {
  Tensor x(ir::TensorType{dtype, {kRows, kColumns}});
  const bool is_wide = dtype == DType::i64 || dtype == DType::u64;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto n = first + static_cast<std::int64_t>(i) % 11 * 3;
    x.set(i, static_cast<double>(is_wide ? n * 0x123456789 : n));
  }
  return x;
}

// Empty where the device gives the reference's numbers for every dtype but f64.
std::string difference_of(testing::TestDevice& device) {
  for (const auto dtype : {DType::i64, DType::u64, DType::i32, DType::u32, DType::i16, DType::u16, DType::i8, DType::u8,
                           DType::f32, DType::f16, DType::bf16}) {
    const auto program = program_of(dtype);
    const std::vector<Tensor> inputs{numbers_of(dtype, 1), numbers_of(dtype, 2)};
    const auto found = run_program(device, program, inputs);
    if (!found.ok()) return fmt::format("{}: {}", ir::name(dtype), found.status().to_string());
    const auto expected = reference::evaluate(program, inputs, {});
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const auto where = testing::first_difference((*found)[k], expected[k], 2, 0);
      if (!where.empty()) return fmt::format("{}, output {}: {}", ir::name(dtype), k, where);
    }
  }
  return "";
}

class VulkanOfFewTypes : public VulkanTest {
 protected:
  static void expect_same() {
    testing::TestDevice device(std::shared_ptr<Backend>(value_or_throw(open_vulkan_backend(0))));
    EXPECT_EQ(difference_of(device), "");
  }
};

TEST_F(VulkanOfFewTypes, WithoutWholeNumbersOf64BitsGivesTheSame) {
  faults().lacks_int64 = true;
  EXPECT_FALSE(value_or_throw(usable_adapters()).front().facts.has_int64);
  expect_same();
}

TEST_F(VulkanOfFewTypes, WithoutWholeNumbersOf8And16BitsGivesTheSame) {
  faults().lacks_narrow = true;
  EXPECT_FALSE(value_or_throw(usable_adapters()).front().facts.has_narrow);
  expect_same();
}

TEST_F(VulkanOfFewTypes, WithoutBothGivesTheSame) {
  faults().lacks_int64 = faults().lacks_narrow = true;
  expect_same();
}

// In a process of its own: the loader is opened once in each.
TEST(VulkanOfSwiftShader, GivesTheSame) {
  constexpr const char* kFile = "/usr/lib/chromium/vk_swiftshader_icd.json";
  if (!std::filesystem::exists(kFile)) GTEST_SKIP() << "SwiftShader is not there (Debian's chromium-common)";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto compute = [&] {
    ::setenv("VK_DRIVER_FILES", kFile, 1);  // NOLINT(concurrency-mt-unsafe): no other thread runs
    const auto adapters = usable_adapters();
    auto found = adapters.ok() ? adapters->front().name + ": " : adapters.status().message() + ": ";
    auto backend = open_vulkan_backend(0);
    if (backend.ok()) {
      testing::TestDevice device(std::shared_ptr<Backend>(*std::move(backend)));
      found += difference_of(device);
    } else {
      found += backend.status().message();
    }
    std::fputs((found + "end").c_str(), stderr);
    std::_Exit(0);
  };
  EXPECT_EXIT(compute(), ::testing::ExitedWithCode(0), "SwiftShader[^:]*: end");
}

}  // namespace
}  // namespace burn::backends::vulkan
