// Fourier transforms of lengths that the catalogue has none of, against sums in double of a few of their numbers.
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using Complex = std::complex<double>;

// [outer, length, inner], transformed along the middle.
struct Signal {
  DType dtype;
  std::int64_t outer, length, inner;

  ir::TensorType type(std::int64_t along) const { return {dtype, {outer, along, inner}}; }
  ir::TensorType type() const { return type(length); }
  std::size_t at(std::int64_t along, std::int64_t o, std::int64_t j, std::int64_t i) const {
    return static_cast<std::size_t>((o * along + j) * inner + i);
  }
  double tolerance() const { return (dtype == DType::f64 ? 1e-13 : 4e-6) * std::sqrt(static_cast<double>(length)) * 8; }
  std::string text() const { return to_string(type()); }
};

reference::Tensor noise(const ir::TensorType& type, unsigned seed) {
  reference::Tensor x(type);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < x.size(); ++i) x.set(i, std::normal_distribution<double>()(random));
  return x;
}

Complex turn(std::int64_t j, std::int64_t k, std::int64_t n, bool inverse) {
  const auto angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
  return std::polar(1.0, inverse ? angle : -angle);
}

// A few places along an axis: the ends, the middle, and some between.
std::vector<std::int64_t> places(std::int64_t size) {
  std::vector<std::int64_t> all{0};
  for (const std::int64_t k : {std::int64_t{1}, size / 3, size / 2, size - 2, size - 1}) {
    if (k > all.back() && k < size) all.push_back(k);
  }
  return all;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& kind : backends::backend_kinds()) {
    if (kind.computes && kind.name != "null") names.push_back(kind.name);
  }
  return names;
}

class Transforms : public ::testing::TestWithParam<std::string> {
 protected:
  static std::vector<Signal> signals() {
    std::vector<Signal> all;
    for (const auto dtype : {DType::f32, DType::f64}) {
      for (const std::int64_t n : {1, 2, 3, 7, 8, 97, 127, 128, 511, 1000, 1009, 1021, 1024, 2018, 4096, 10007}) {
        all.push_back({dtype, 1, n, 1});
        all.push_back({dtype, 5, n, 1});
        if (n > 1100) continue;
        all.push_back({dtype, 1, n, 6});
        all.push_back({dtype, 3, n, 4});
      }
    }
    return all;
  }

  // `views`: the operands are read through transposed views, of what has the first and last dims exchanged.
  std::vector<reference::Tensor> run(const ir::Op& op, std::vector<reference::Tensor> inputs, bool views) {
    ir::ProgramBuilder builder;
    std::vector<ir::Ref> operands;
    for (auto& input : inputs) {
      if (views) input = exchanged(input);
      operands.push_back(builder.add_input(input.type));
      if (views) operands.back() = builder.add(ir::Permute{{2, 1, 0}}, {&operands.back(), 1})->result(0);
    }
    const auto y = *builder.add(op, operands);
    std::vector<ir::Ref> outputs;
    for (int k = 0; k < ir::result_count(op); ++k) outputs.push_back(y.result(k));
    auto found = run_program(device_, builder.finish(outputs), inputs);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *std::move(found) : std::vector<reference::Tensor>{};
  }

  TestDevice device_{GetParam()};

 private:
  static reference::Tensor exchanged(const reference::Tensor& x) {
    const auto& shape = x.type.shape;
    reference::Tensor y({x.type.dtype, {shape[2], shape[1], shape[0]}});
    std::size_t at = 0;
    for (std::int64_t i = 0; i < shape[2]; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        for (std::int64_t o = 0; o < shape[0]; ++o)
          y.bits[at++] = x.bits[static_cast<std::size_t>((o * shape[1] + j) * shape[2] + i)];
      }
    }
    return y;
  }
};

INSTANTIATE_TEST_SUITE_P(, Transforms, ::testing::ValuesIn(kinds()), [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Transforms);

TEST_P(Transforms, OfComplexNumbersAreTheirSums) {
  for (const auto& s : signals()) {
    for (const bool inverse : {false, true}) {
      for (const bool views : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", s.text(), inverse, views));
        const auto re = noise(s.type(), 1), im = noise(s.type(), 2);
        const auto y = run(ir::Fft{1, inverse}, {re, im}, views);
        ASSERT_EQ(y.size(), 2u);
        for (std::int64_t o = 0; o < s.outer; ++o) {
          for (const auto i : places(s.inner)) {
            for (const auto k : places(s.length)) {
              Complex sum = 0;
              for (std::int64_t j = 0; j < s.length; ++j) {
                const auto at = s.at(s.length, o, j, i);
                sum += Complex(re.get<double>(at), im.get<double>(at)) * turn(j, k, s.length, inverse);
              }
              const auto at = s.at(s.length, o, k, i);
              ASSERT_LE(std::abs(sum - Complex(y[0].get<double>(at), y[1].get<double>(at))), s.tolerance()) << k;
            }
          }
        }
      }
    }
  }
}

TEST_P(Transforms, OfRealNumbersAreTheFirstHalf) {
  for (const auto& s : signals()) {
    for (const bool views : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", s.text(), views));
      const auto x = noise(s.type(), 1);
      const auto half = s.length / 2 + 1;
      const auto y = run(ir::RealFft{1}, {x}, views);
      ASSERT_EQ(y.size(), 2u);
      for (std::int64_t o = 0; o < s.outer; ++o) {
        for (const auto i : places(s.inner)) {
          for (const auto k : places(half)) {
            Complex sum = 0;
            for (std::int64_t j = 0; j < s.length; ++j)
              sum += x.get<double>(s.at(s.length, o, j, i)) * turn(j, k, s.length, false);
            const auto at = s.at(half, o, k, i);
            ASSERT_LE(std::abs(sum - Complex(y[0].get<double>(at), y[1].get<double>(at))), s.tolerance()) << k;
          }
        }
      }
    }
  }
}

// The imaginary parts of the ends count as 0, whatever they are.
TEST_P(Transforms, BackToRealNumbersAreSumsOverBothHalves) {
  for (const auto& s : signals()) {
    for (const bool views : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", s.text(), views));
      const auto half = s.length / 2 + 1;
      const auto re = noise(s.type(half), 1), im = noise(s.type(half), 2);
      const auto y = run(ir::InverseRealFft{1, s.length}, {re, im}, views);
      ASSERT_EQ(y.size(), 1u);
      for (std::int64_t o = 0; o < s.outer; ++o) {
        for (const auto i : places(s.inner)) {
          for (const auto k : places(s.length)) {
            double sum = 0;
            for (std::int64_t j = 0; j < half; ++j) {
              const auto at = s.at(half, o, j, i);
              const bool is_end = j == 0 || 2 * j == s.length;
              const Complex number(re.get<double>(at), is_end ? 0.0 : im.get<double>(at));
              sum += (is_end ? 1 : 2) * (number * turn(j, k, s.length, true)).real();
            }
            ASSERT_LE(std::abs(sum - y[0].get<double>(s.at(s.length, o, k, i))), s.tolerance()) << k;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace burn::testing
